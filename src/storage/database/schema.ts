/** The statements of one schema version; they run in one transaction. */
export type Migration = readonly (string | OwnStatement)[]

/** A statement in the SQL of one database, or of each. */
interface OwnStatement {
  readonly sqlite?: string
  readonly postgres: string
}

/**
 * Every change of the schema, oldest first. Never edit a released migration; add a new one. The types are
 * TEXT, BIGINT (also for 0 and 1, and for milliseconds since 1970) and DOUBLE PRECISION.
 */
export const migrations: readonly Migration[] = [
  [
    // `day` counts days since 1970-01-01 UTC.
    `CREATE TABLE counters (
      bucket TEXT NOT NULL,
      day BIGINT NOT NULL,
      used BIGINT NOT NULL,
      PRIMARY KEY (bucket, day)
    )`,
    'CREATE TABLE heartbeat (id BIGINT PRIMARY KEY, at BIGINT NOT NULL)',
  ],
  [
    `CREATE TABLE accounts (
      id TEXT PRIMARY KEY,
      tier TEXT NOT NULL,
      email TEXT,
      created BIGINT NOT NULL
    )`,
    `CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE,
      prefix TEXT NOT NULL,
      created BIGINT NOT NULL,
      last_used BIGINT,
      expires BIGINT
    )`,
    'CREATE INDEX accounts_by_age ON accounts (created, id)',
    'CREATE INDEX keys_by_account ON keys (account)',
    // The answer is empty while the first request with this key is in flight.
    `CREATE TABLE idempotency (
      account TEXT NOT NULL,
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      body_hash TEXT NOT NULL,
      at BIGINT NOT NULL,
      status BIGINT NOT NULL,
      answer TEXT NOT NULL,
      PRIMARY KEY (account, scope, key)
    )`,
    'CREATE INDEX idempotency_by_age ON idempotency (at)',
    // `agents` holds the memory of each agent of a run; '' is the main agent. In `runs`, the columns about
    // a verdict describe the main agent, and the counts cover all agents.
    `CREATE TABLE runs (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      detector TEXT NOT NULL,
      ground TEXT,
      revision BIGINT NOT NULL,
      created BIGINT NOT NULL,
      updated BIGINT NOT NULL,
      expires BIGINT NOT NULL,
      steps BIGINT NOT NULL,
      drifting BIGINT NOT NULL,
      drifting_steps BIGINT NOT NULL,
      last_reason TEXT,
      phi DOUBLE PRECISION NOT NULL,
      max_phi DOUBLE PRECISION NOT NULL,
      tokens DOUBLE PRECISION NOT NULL,
      overhead_tokens DOUBLE PRECISION NOT NULL,
      token_steps BIGINT NOT NULL,
      outcome TEXT,
      score DOUBLE PRECISION,
      note TEXT,
      pair TEXT,
      arm TEXT,
      judgment TEXT,
      PRIMARY KEY (account, run_id)
    )`,
    'CREATE INDEX runs_by_update ON runs (account, updated)',
    'CREATE INDEX runs_by_expiry ON runs (expires)',
    'CREATE INDEX runs_by_pair ON runs (account, pair) WHERE pair IS NOT NULL',
    `CREATE TABLE agents (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      memory TEXT NOT NULL,
      steps BIGINT NOT NULL,
      drifting BIGINT NOT NULL,
      last_reason TEXT,
      PRIMARY KEY (account, run_id, agent_id)
    )`,
    `CREATE TABLE grounds (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      revision BIGINT NOT NULL,
      goal TEXT NOT NULL,
      set_by TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (account, run_id, agent_id, revision)
    )`,
    `CREATE TABLE steps (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      step BIGINT NOT NULL,
      ts BIGINT NOT NULL,
      agent_id TEXT NOT NULL,
      goal TEXT NOT NULL,
      parent_goal TEXT,
      progress TEXT NOT NULL,
      distance BIGINT NOT NULL,
      reason TEXT NOT NULL,
      drifting BIGINT NOT NULL,
      phi DOUBLE PRECISION NOT NULL,
      goal_score DOUBLE PRECISION NOT NULL,
      svcscore TEXT,
      context TEXT,
      tokens DOUBLE PRECISION,
      overhead BIGINT,
      judgment TEXT,
      PRIMARY KEY (account, run_id, step)
    )`,
    // A run opens a context with its first step in it; `contexts` counts the runs that did.
    `CREATE TABLE openings (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      context TEXT NOT NULL,
      PRIMARY KEY (account, run_id, context)
    )`,
    `CREATE TABLE contexts (
      account TEXT NOT NULL,
      context TEXT NOT NULL,
      runs BIGINT NOT NULL,
      lowest BIGINT NOT NULL,
      PRIMARY KEY (account, context)
    )`,
    // The job queue. `held_until` ends the lease and is 0 without one; `again` is the due time of a job
    // that was enqueued during its lease; `gave_up` is the time of its last failed attempt.
    `CREATE TABLE jobs (
      id TEXT PRIMARY KEY,
      kind TEXT NOT NULL,
      input TEXT NOT NULL,
      due BIGINT NOT NULL,
      held_until BIGINT NOT NULL,
      again BIGINT,
      attempts BIGINT NOT NULL,
      error TEXT,
      gave_up BIGINT
    )`,
    'CREATE INDEX jobs_by_due ON jobs (kind, due) WHERE gave_up IS NULL',
    'CREATE INDEX counters_by_day ON counters (day)',
  ],
  [
    // One row: the shared field, and the seed that separates its climate from other installations.
    `CREATE TABLE field (
      id BIGINT PRIMARY KEY,
      seed TEXT NOT NULL,
      state TEXT NOT NULL
    )`,
    'CREATE TABLE field_samples (at BIGINT PRIMARY KEY, signal TEXT NOT NULL)',
  ],
  [
    // The columns of the decision are null before it; `touched` is the time of the creation or the
    // decision.
    `CREATE TABLE escalations (
      esc_id TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      reason TEXT NOT NULL,
      advice TEXT,
      streak BIGINT,
      detail TEXT,
      created BIGINT NOT NULL,
      decision TEXT,
      note TEXT,
      decided_at BIGINT,
      decided_by TEXT,
      touched BIGINT NOT NULL
    )`,
    'CREATE INDEX escalations_by_age ON escalations (account, created, esc_id)',
    `CREATE INDEX escalations_pending ON escalations (account, created, esc_id)
     WHERE decision IS NULL`,
    `CREATE INDEX escalations_blocking ON escalations (account, run_id)
     WHERE (decision IS NULL OR decision = 'stop')`,
    'CREATE INDEX escalations_by_touch ON escalations (touched)',
    // The account of a team is its owner; an account has at most one seat.
    `CREATE TABLE teams (
      id TEXT PRIMARY KEY,
      account TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      share_goals BIGINT NOT NULL,
      mask TEXT NOT NULL,
      created BIGINT NOT NULL
    )`,
    `CREATE TABLE team_seats (
      account TEXT PRIMARY KEY,
      team TEXT NOT NULL,
      label TEXT NOT NULL,
      role TEXT NOT NULL,
      joined BIGINT NOT NULL
    )`,
    'CREATE INDEX team_seats_by_team ON team_seats (team)',
    `CREATE TABLE team_invites (
      hash TEXT PRIMARY KEY,
      team TEXT NOT NULL,
      label TEXT,
      expires BIGINT NOT NULL
    )`,
    'CREATE INDEX team_invites_by_team ON team_invites (team)',
    'CREATE INDEX team_invites_by_expiry ON team_invites (expires)',
    // `entries` counts every entry ever logged, which numbers the newest ones.
    `CREATE TABLE selves (
      account TEXT NOT NULL,
      identity TEXT NOT NULL,
      purpose TEXT,
      now TEXT,
      mind TEXT,
      note TEXT,
      created BIGINT NOT NULL,
      updated BIGINT NOT NULL,
      entries BIGINT NOT NULL,
      PRIMARY KEY (account, identity)
    )`,
    `CREATE TABLE self_log (
      account TEXT NOT NULL,
      identity TEXT NOT NULL,
      entry BIGINT NOT NULL,
      ts BIGINT NOT NULL,
      kind TEXT NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (account, identity, entry)
    )`,
  ],
  [
    // The data that the tools keep for a task; its run has the same key.
    `CREATE TABLE tool_sessions (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      state TEXT NOT NULL,
      expires BIGINT NOT NULL,
      PRIMARY KEY (account, run_id)
    )`,
    'CREATE INDEX tool_sessions_by_expiry ON tool_sessions (expires)',
    // The signing secrets of this installation; the first node that needs one creates it.
    'CREATE TABLE secrets (name TEXT PRIMARY KEY, secret TEXT NOT NULL)',
  ],
  [
    // `seq` numbers the events and log entries of the account; the secrets sign its events.
    `CREATE TABLE alert_accounts (
      account TEXT PRIMARY KEY,
      seq BIGINT NOT NULL,
      config TEXT,
      secret TEXT,
      old_secret TEXT,
      old_secret_until BIGINT
    )`,
    `CREATE TABLE alert_log (
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      ts BIGINT NOT NULL,
      run_id TEXT NOT NULL,
      reason TEXT NOT NULL,
      severity TEXT NOT NULL,
      phi DOUBLE PRECISION NOT NULL,
      delivered BIGINT NOT NULL,
      status BIGINT NOT NULL,
      detail TEXT,
      PRIMARY KEY (account, seq)
    )`,
    'CREATE INDEX alert_log_by_age ON alert_log (ts)',
    // The outbox: `due` is the time of the next attempt, `tries` the attempts since the event was emitted
    // or replayed, `attempts` all attempts; `held` is 1 if the log says that a pause of the address holds
    // it back.
    `CREATE TABLE alert_events (
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      ts BIGINT NOT NULL,
      run_id TEXT NOT NULL,
      goal TEXT,
      reason TEXT NOT NULL,
      severity TEXT NOT NULL,
      phi DOUBLE PRECISION NOT NULL,
      advice TEXT NOT NULL,
      incident TEXT,
      state TEXT NOT NULL,
      due BIGINT NOT NULL,
      tries BIGINT NOT NULL,
      attempts BIGINT NOT NULL,
      held BIGINT NOT NULL,
      detail TEXT,
      PRIMARY KEY (account, seq)
    )`,
    `CREATE INDEX alert_events_waiting ON alert_events (account, due, seq) WHERE state = 'waiting'`,
    'CREATE INDEX alert_events_by_run ON alert_events (account, run_id)',
    'CREATE INDEX alert_events_by_age ON alert_events (ts)',
    `CREATE TABLE alert_attempts (
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      attempt BIGINT NOT NULL,
      ts BIGINT NOT NULL,
      host TEXT NOT NULL,
      status BIGINT NOT NULL,
      detail TEXT,
      latency_ms BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      PRIMARY KEY (account, seq, attempt)
    )`,
    'CREATE INDEX alert_attempts_by_age ON alert_attempts (ts)',
    // Only addresses whose last attempt failed have a row.
    `CREATE TABLE alert_endpoints (
      account TEXT NOT NULL,
      url TEXT NOT NULL,
      failures BIGINT NOT NULL,
      failing_since BIGINT,
      paused_until BIGINT,
      pause_detail TEXT,
      updated BIGINT NOT NULL,
      PRIMARY KEY (account, url)
    )`,
    'CREATE INDEX alert_endpoints_by_age ON alert_endpoints (updated)',
    `CREATE TABLE alert_incidents (
      account TEXT NOT NULL,
      seq BIGINT NOT NULL,
      run_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      reason TEXT NOT NULL,
      severity TEXT NOT NULL,
      opened BIGINT NOT NULL,
      updated BIGINT NOT NULL,
      notified BIGINT NOT NULL,
      closed BIGINT,
      steps BIGINT NOT NULL,
      phi DOUBLE PRECISION NOT NULL,
      max_phi DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (account, seq)
    )`,
    'CREATE INDEX alert_incidents_by_run ON alert_incidents (account, run_id, agent_id)',
    'CREATE INDEX alert_incidents_by_age ON alert_incidents (updated)',
  ],
  [
    `CREATE TABLE conversations (
      account TEXT NOT NULL,
      conv_id TEXT NOT NULL,
      goal TEXT,
      memory TEXT NOT NULL,
      turns BIGINT NOT NULL,
      last_reason TEXT NOT NULL,
      drifting BIGINT NOT NULL,
      created BIGINT NOT NULL,
      updated BIGINT NOT NULL,
      expires BIGINT NOT NULL,
      PRIMARY KEY (account, conv_id)
    )`,
    'CREATE INDEX conversations_by_update ON conversations (account, updated)',
    'CREATE INDEX conversations_by_expiry ON conversations (expires)',
    // `goal` is the goal as the turn stated it.
    `CREATE TABLE conversation_turns (
      account TEXT NOT NULL,
      conv_id TEXT NOT NULL,
      turn BIGINT NOT NULL,
      ts BIGINT NOT NULL,
      agent TEXT NOT NULL,
      position TEXT NOT NULL,
      goal TEXT,
      distance BIGINT NOT NULL,
      reason TEXT NOT NULL,
      drifting BIGINT NOT NULL,
      phi DOUBLE PRECISION NOT NULL,
      echo DOUBLE PRECISION NOT NULL,
      self_echo DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (account, conv_id, turn)
    )`,
    `CREATE TABLE templates (
      account TEXT NOT NULL,
      name TEXT NOT NULL,
      task TEXT NOT NULL,
      roles TEXT NOT NULL,
      PRIMARY KEY (account, name)
    )`,
    // `act` is a hash of the act and its target; their texts are not stored.
    `CREATE TABLE acts (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      act TEXT NOT NULL,
      work_group TEXT,
      at BIGINT NOT NULL,
      PRIMARY KEY (account, act, run_id)
    )`,
    'CREATE INDEX acts_by_time ON acts (account, at)',
    'CREATE INDEX acts_by_age ON acts (at)',
  ],
  [
    'ALTER TABLE accounts ADD COLUMN email_verified BIGINT NOT NULL DEFAULT 0',
    `CREATE TABLE email_links (
      hash TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      email TEXT NOT NULL,
      expires BIGINT NOT NULL
    )`,
    'CREATE INDEX email_links_by_account ON email_links (account)',
    'CREATE INDEX email_links_by_expiry ON email_links (expires)',
    `CREATE TABLE digests (
      account TEXT PRIMARY KEY,
      cadence TEXT NOT NULL,
      hour_utc BIGINT NOT NULL,
      weekday BIGINT,
      channel TEXT NOT NULL,
      url TEXT,
      created BIGINT NOT NULL,
      next BIGINT NOT NULL,
      sent_until BIGINT,
      token TEXT NOT NULL UNIQUE
    )`,
  ],
  [
    'ALTER TABLE alert_incidents ADD COLUMN dialogue BIGINT NOT NULL DEFAULT 0',
    // A run that often leaves and returns to its errand has many closed incidents, and each step looks for
    // open ones.
    `CREATE INDEX alert_incidents_open ON alert_incidents (account, run_id, agent_id)
     WHERE closed IS NULL`,
    `CREATE INDEX alert_events_failed ON alert_events (account, seq) WHERE state = 'failed'`,
  ],
  [
    // The run that a stored answer names, '' if it names several, so that deleting the run deletes the
    // answer.
    'ALTER TABLE idempotency ADD COLUMN run_id TEXT',
    `CREATE INDEX idempotency_by_run ON idempotency (account, run_id, scope, key)
     WHERE run_id IS NOT NULL`,
    // A context counts the kept runs that opened it, and is deleted with the last one.
    'UPDATE contexts SET runs = 0',
    `UPDATE contexts SET runs = kept.runs FROM (
       SELECT account, context, COUNT(*) AS runs FROM openings GROUP BY account, context
     ) AS kept WHERE kept.account = contexts.account AND kept.context = contexts.context`,
    'DELETE FROM contexts WHERE runs = 0',
    // Deletes the numbering of accounts without alert settings and numbered rows.
    `DELETE FROM alert_accounts WHERE config IS NULL AND secret IS NULL
       AND NOT EXISTS (SELECT 1 FROM alert_events AS e WHERE e.account = alert_accounts.account)
       AND NOT EXISTS (SELECT 1 FROM alert_attempts AS a WHERE a.account = alert_accounts.account)
       AND NOT EXISTS (SELECT 1 FROM alert_incidents AS i WHERE i.account = alert_accounts.account)
       AND NOT EXISTS (SELECT 1 FROM alert_log AS l WHERE l.account = alert_accounts.account)`,
    // New columns get this collation at creation; these columns are older.
    {
      postgres: `DO $do$
        DECLARE named RECORD;
        BEGIN
          FOR named IN
            SELECT table_name, string_agg(
              format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', column_name),
              ', ' ORDER BY ordinal_position
            ) AS changes
            FROM information_schema.columns JOIN information_schema.tables
              USING (table_catalog, table_schema, table_name)
            WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
              AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
            GROUP BY table_name ORDER BY table_name
          LOOP
            EXECUTE format('ALTER TABLE %I %s', named.table_name, named.changes);
          END LOOP;
        END $do$`,
    },
  ],
  [
    // What a verdict held, as one JSON text: nothing selects by it.
    'ALTER TABLE steps ADD COLUMN verdict TEXT',
    'ALTER TABLE runs ADD COLUMN uncertain BIGINT',
    'ALTER TABLE runs ADD COLUMN drift_tokens DOUBLE PRECISION',
    'ALTER TABLE runs ADD COLUMN first_drift_step BIGINT',
    'ALTER TABLE runs ADD COLUMN plan TEXT',
    'ALTER TABLE agents ADD COLUMN totals TEXT',
    // What the step of an event held, as JSON text.
    'ALTER TABLE alert_events ADD COLUMN about TEXT',
  ],
  [
    // What the user has asked for, as JSON, and when the user last spoke. Older rows have neither.
    'ALTER TABLE runs ADD COLUMN assignment TEXT',
    'ALTER TABLE runs ADD COLUMN last_person_at BIGINT',
    'ALTER TABLE steps ADD COLUMN revision BIGINT',
    'ALTER TABLE steps ADD COLUMN user_message TEXT',
    'ALTER TABLE steps ADD COLUMN user_effect TEXT',
    'ALTER TABLE grounds ADD COLUMN step BIGINT',
  ],
  [
    // The state that an event tells of the drift; `state` is that of its delivery.
    "ALTER TABLE alert_events ADD COLUMN drift_state TEXT NOT NULL DEFAULT 'opened'",
  ],
  ['ALTER TABLE agents ADD COLUMN parent_agent_id TEXT'],
  [
    // Steps of earlier releases have none.
    'ALTER TABLE steps ADD COLUMN uncertain BIGINT',
    // Few runs are in these states, so that a step of a calm run writes to neither index.
    'CREATE INDEX runs_drifting ON runs (account, updated) WHERE drifting = 1',
    'CREATE INDEX runs_uncertain ON runs (account, updated) WHERE uncertain = 1',
  ],
  [
    // What is known of a session of a host; its run has the same key.
    `CREATE TABLE host_sessions (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      state TEXT NOT NULL,
      expires BIGINT NOT NULL,
      PRIMARY KEY (account, run_id)
    )`,
    'CREATE INDEX host_sessions_by_expiry ON host_sessions (expires)',
  ],
  [
    // The host that shows a run, and as JSON how much of what its agent did the errand explains.
    'ALTER TABLE runs ADD COLUMN host TEXT',
    'ALTER TABLE runs ADD COLUMN coverage TEXT',
  ],
  [
    // What a key may do, and what its owner calls it.
    "ALTER TABLE keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'full'",
    'ALTER TABLE keys ADD COLUMN label TEXT',
  ],
  [
    // How hooks are answered, of an account (run_id is empty) or of one run.
    `CREATE TABLE hook_settings (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      mode TEXT,
      remind BIGINT,
      expires BIGINT,
      PRIMARY KEY (account, run_id)
    )`,
    'CREATE INDEX hook_settings_by_expiry ON hook_settings (expires) WHERE expires IS NOT NULL',
  ],
  [
    // A browser that is signed in. A session that a key made ends with the key.
    `CREATE TABLE sessions (
      hash TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      key_id TEXT,
      created BIGINT NOT NULL,
      expires BIGINT NOT NULL
    )`,
    'CREATE INDEX sessions_by_account ON sessions (account, created)',
    'CREATE INDEX sessions_by_key ON sessions (key_id) WHERE key_id IS NOT NULL',
    'CREATE INDEX sessions_by_expiry ON sessions (expires)',
  ],
  [
    // What listeners of an account are told of, and until when it is recorded for them.
    `CREATE TABLE stream_listeners (
      account TEXT PRIMARY KEY,
      until BIGINT NOT NULL
    )`,
    {
      // AUTOINCREMENT gives no number twice, even if the newest rows are deleted.
      sqlite: `CREATE TABLE stream_events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        tx INTEGER NOT NULL DEFAULT 0,
        account TEXT NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        run_id TEXT NOT NULL,
        subject TEXT NOT NULL
      ) STRICT`,
      // The number of its transaction tells a reader whether an earlier row can still appear.
      postgres: `CREATE TABLE stream_events (
        seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tx BIGINT NOT NULL DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT),
        account TEXT COLLATE "C" NOT NULL,
        at BIGINT NOT NULL,
        kind TEXT COLLATE "C" NOT NULL,
        run_id TEXT COLLATE "C" NOT NULL,
        subject TEXT COLLATE "C" NOT NULL
      )`,
    },
    'CREATE INDEX stream_events_by_place ON stream_events (account, tx, seq)',
    'CREATE INDEX stream_events_by_age ON stream_events (at)',
  ],
  [
    // A link that signs the person at the machine of the server in once.
    `CREATE TABLE sign_in_links (
      hash TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      expires BIGINT NOT NULL
    )`,
    'CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires)',
  ],
  [
    // A step at which a drift began; `held` says that the budget of the account held its alarm back.
    `CREATE TABLE alarms (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      step BIGINT NOT NULL,
      at BIGINT NOT NULL,
      agent_id TEXT NOT NULL,
      reason TEXT NOT NULL,
      held BIGINT NOT NULL,
      PRIMARY KEY (account, run_id, step)
    )`,
    `INSERT INTO alarms (account, run_id, step, at, agent_id, reason, held)
     SELECT account, run_id, step, ts, agent_id, reason, 0 FROM steps WHERE drifting = 1
       AND account LIKE 'acct%' AND NOT EXISTS (
         SELECT 1 FROM steps AS before WHERE before.account = steps.account
           AND before.run_id = steps.run_id AND before.step = steps.step - 1
           AND before.agent_id = steps.agent_id AND before.drifting = 1
       )`,
    // What people said of steps, the history kept; `alarm` is the step at which the drift of the step began.
    `CREATE TABLE labels (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      step BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      alarm BIGINT,
      label TEXT NOT NULL,
      note TEXT,
      PRIMARY KEY (account, run_id, step, seq)
    )`,
  ],
  [
    // A person at an identity provider, and whether the first key of the account was shown.
    `CREATE TABLE identities (
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      account TEXT NOT NULL,
      created BIGINT NOT NULL,
      key_shown BIGINT NOT NULL,
      PRIMARY KEY (issuer, subject)
    )`,
    'CREATE INDEX identities_by_account ON identities (account)',
  ],
  [
    // The outbox of evaluation results: what waits for the operator's collector, and what was given up. `tries`
    // are the attempts, `due` is the time of the next one after a failure, and `result` is JSON text.
    `CREATE TABLE evaluation_results (
      account TEXT NOT NULL,
      run_id TEXT NOT NULL,
      step BIGINT NOT NULL,
      at BIGINT NOT NULL,
      result TEXT NOT NULL,
      state TEXT NOT NULL,
      tries BIGINT NOT NULL,
      due BIGINT NOT NULL,
      detail TEXT,
      PRIMARY KEY (account, run_id, step)
    )`,
    `CREATE INDEX evaluation_results_waiting ON evaluation_results (at, account, run_id, step)
     WHERE state = 'waiting'`,
    `CREATE INDEX evaluation_results_held ON evaluation_results (due)
     WHERE state = 'waiting' AND tries > 0`,
    'CREATE INDEX evaluation_results_by_age ON evaluation_results (at)',
    // Spans of agents until their trace is folded; `note` is JSON text.
    `CREATE TABLE pending_spans (
      account TEXT NOT NULL,
      trace_id TEXT NOT NULL,
      span_id TEXT NOT NULL,
      received BIGINT NOT NULL,
      note TEXT NOT NULL,
      PRIMARY KEY (account, trace_id, span_id)
    )`,
    'CREATE INDEX pending_spans_by_age ON pending_spans (received)',
  ],
  [
    // As JSON, when the steps of a run came since a person was there. Older runs do not know.
    'ALTER TABLE runs ADD COLUMN clock TEXT',
  ],
  [
    // What accounts pay for, and the events of the payment provider that were taken. `version` orders the
    // events of a subscription, so that a late one is known.
    `CREATE TABLE subscriptions (
      subscription TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      customer TEXT,
      tier TEXT,
      live BIGINT NOT NULL,
      ending BIGINT NOT NULL,
      over BIGINT NOT NULL,
      version BIGINT NOT NULL
    )`,
    'CREATE INDEX subscriptions_by_account ON subscriptions (account)',
    'CREATE TABLE payment_events (id TEXT PRIMARY KEY, at BIGINT NOT NULL)',
    'CREATE INDEX payment_events_by_age ON payment_events (at)',
  ],
  [
    // How many alarms an account is willing to hear, with what is known of its steps, as JSON.
    'CREATE TABLE budgets (account TEXT PRIMARY KEY, state TEXT NOT NULL)',
  ],
  [
    // The events of hosts that no reader understood, by name, with their number.
    `CREATE TABLE unknown_events (
      account TEXT NOT NULL,
      host TEXT NOT NULL,
      name TEXT NOT NULL,
      count BIGINT NOT NULL,
      last BIGINT NOT NULL,
      PRIMARY KEY (account, host, name)
    )`,
  ],
  [
    // The alarms of old steps were found by the step before, which may be of another agent: only the last earlier
    // step of the same agent says whether a drift began. Labels belong to the alarm of their drift.
    `DELETE FROM alarms WHERE (
       SELECT before.drifting FROM steps AS before WHERE before.account = alarms.account
         AND before.run_id = alarms.run_id AND before.agent_id = alarms.agent_id
         AND before.step < alarms.step ORDER BY before.step DESC LIMIT 1
     ) = 1`,
    `UPDATE labels SET alarm = (
       SELECT MAX(alarms.step) FROM alarms JOIN steps ON steps.account = alarms.account
         AND steps.run_id = alarms.run_id AND steps.agent_id = alarms.agent_id
       WHERE steps.account = labels.account AND steps.run_id = labels.run_id
         AND steps.step = labels.step AND alarms.step <= labels.step
     ) WHERE alarm IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM alarms WHERE alarms.account = labels.account
         AND alarms.run_id = labels.run_id AND alarms.step = labels.alarm
     )`,
  ],
  [
    // A step of a run that goes on does not write to it.
    'CREATE INDEX runs_finished ON runs (account, updated) WHERE outcome IS NOT NULL',
  ],
  [
    // How much of a session has been seen, and when. A session has none until its next event.
    ...[
      'acts',
      'ended',
      'agents_begun',
      'agents_stopped',
      'prompts',
      'unheard',
      'heard_at',
      'over_at',
    ].map((name) => `ALTER TABLE host_sessions ADD COLUMN ${name} BIGINT`),
  ],
]
