/** One testable sentence of the specification. `issue` is the one that brings it; 7 stands for a later one. */
export interface Requirement {
  id: string
  from: 'interface' | 'api' | 'api-2' | 'configuration' | 'hosts' | 'design'
  says: string
  issue: 2 | 3 | 4 | 5 | 6 | 7 | 15 | 16 | 17
}

/** The id of a requirement, so that a misspelt one is a type error. */
export type RequirementId = keyof typeof requirements

/** Issues whose requirements no test has to verify yet; an issue that is done leaves this list. */
export const openIssues: readonly number[] = [7]

/** Every requirement by its id: where it is written, the issue that brings it, and what it says. */
export const requirements = {
  ...written('interface', 2, {
    // POST /v1/check, the sugar form: ground and goal
    'check.sugar.when': 'A body whose steps is absent or not an array is read as the sugar form.',
    'check.sugar.two-steps':
      'The sugar form answers two steps, the ground first and the goal second; the second is the verdict and shows drifting, reason, phi, goal_score, advice and context.',
    'check.sugar.ground-required':
      'Without a steps array, a ground that is missing, not a string or blank after trimming is 400 bad_request.',
    'check.sugar.goal-required':
      'Without a steps array, a goal that is missing, not a string or blank after trimming is 400 bad_request.',
    'check.sugar.trim':
      'ground and goal are trimmed, and the trimmed texts are measured and echoed.',
    'check.sugar.progress-default':
      'In the sugar form a progress that is absent or no string is advancing.',
    'check.sugar.progress-unknown':
      'In the sugar form a progress string other than advancing, stuck and circling is passed on and gives ungrammatical.',
    'check.sugar.progress-second-only':
      'In the sugar form progress applies to the second step; the ground step is always advancing.',
    'check.sugar.distance-not-finite':
      'In the sugar form a distance whose Number() is not finite is 5, so an absent one and 8abc are 5.',
    'check.sugar.distance-parsed':
      'In the sugar form a finite distance is parsed in base 10 from its string form and clamped to 0-10: "7.9" is 7, "1e1" is 1, -3 is 0, 99 is 10; one that does not parse, such as null, true or "", is 5.',
    'check.sugar.distance-both': 'In the sugar form one distance is used for both steps.',
    'check.sugar.reasons':
      'A sugar form of ground and goal alone gives no reason but grounded, advancing, goal-drift or ungrammatical.',
    'check.sugar.no-judgment': 'The sugar form never carries a judgment.',

    // POST /v1/check, the sequence form: steps
    'check.steps.wins':
      'A steps that is an array is used and the sugar fields are ignored, even when it is empty and they are good.',
    'check.steps.too-few': 'A steps array of 0 or 1 entries is 400 bad_request.',
    'check.steps.too-many': 'A steps array of more than 64 entries is 400 too_many_steps.',
    'check.steps.limits':
      'steps of 2 and of 64 entries are answered, with one result for each entry in their order.',
    'check.steps.first-is-ground': 'The first entry of steps is the ground.',
    'check.steps.goal-required':
      'An entry whose goal is missing, not a string or blank is 400 bad_request with a detail that names its index.',
    'check.steps.goal-trim':
      'The goal of an entry is trimmed, and the trimmed text is measured and echoed.',
    'check.steps.progress-default':
      'An entry without progress, or with one that is no string, is advancing.',
    'check.steps.progress-unknown':
      'An entry with a progress string other than advancing, stuck and circling gives ungrammatical.',
    'check.steps.distance-parsed':
      'The distance of an entry is parsed in base 10 from its string form: "7.9" is 7, "1e1" is 1, and 8abc is 8 for want of a finiteness filter; absent or unparseable, such as null, true, "" or Infinity, it is 5.',
    'check.steps.distance-clamped':
      'The distance of an entry is clamped to 0-10: -3 is 0 and 99 is 10.',
    'check.steps.parent-ignored':
      'parent_goal of an entry is ignored: the answer is the same with and without it, and never an excursion.',
    'check.steps.other-fields-ignored':
      'An entry is rebuilt from goal, progress and distance only; its other fields change nothing.',

    // POST /v1/check, the body and its refusals
    'check.body.not-json': 'A body that is empty or not JSON is 400 bad_request.',
    'check.body.falsy': 'A body of null, false, 0 or "" is 400 bad_request.',
    'check.body.not-object':
      'A JSON body that is truthy and no object, such as 5, true, "text" or a bare array, is 400 bad_request.',
    'check.body.content-type': 'The body is read as JSON whatever the content type says.',
    'check.refusal.count-before-goals':
      'The number of entries is refused before their goals: 65 blank ones are too_many_steps.',
    'check.refusal.cap-first':
      'Past the daily cap the answer is 429 whatever the body holds, also when it is not JSON.',
    'check.400.body':
      'A 400 carries error (bad_request or too_many_steps), detail and note (strings) and shapes (an object).',
    'check.400.shapes':
      'shapes holds example requests under two_step and sequence that are answered 200.',
    'check.429.body':
      'The 429 carries error rate_limit, detail and an integer retry_after_s, and neither shapes nor note.',
    'check.429.headers':
      'The 429 carries retry-after, x-ratelimit-limit, x-ratelimit-remaining and x-ratelimit-reset.',

    // POST /v1/check, the daily count
    'check.no-key': 'POST /v1/check needs no key.',
    'check.nothing-stored': 'A check leaves nothing in the store but the count of its address.',
    'check.counter.cap': 'An address gets 100 calls a day; the 101st is 429 rate_limit.',
    'check.counter.before-body':
      'The count rises before the body is read: a call with an unparseable body has counted.',
    'check.counter.headers-200':
      'A 200 carries x-ratelimit-limit, x-ratelimit-remaining (falling by one a call) and x-ratelimit-reset.',
    'check.counter.headers-400': 'Every 400 of the check carries the three x-ratelimit headers.',
    'check.counter.reset':
      'x-ratelimit-reset is the seconds until the daily count starts anew, and then calls pass again.',
    'check.counter.address': 'Callers with different cf-connecting-ip headers are counted apart.',
    'check.counter.unknown':
      'Callers without a cf-connecting-ip header share one bucket named unknown.',
    'check.counter.parallel': 'Of 200 calls at once from one address exactly 100 pass.',

    // POST /v1/check, the answer
    'check.answer.ground': 'ground of the answer is the goal of the first step.',
    'check.answer.verdict': 'verdict equals the last element of steps.',
    'check.answer.stateless': 'stateless is true and retained is nothing.',
    'check.result.echo': 'A step result echoes the goal, progress and distance that were measured.',
    'check.result.reason':
      'reason is grounded, advancing, goal-drift, ungrammatical, stalled, oscillating, self-report:stuck or self-report:circling, never excursion.',
    'check.result.drifting': 'drifting is a boolean and advice a string in every step result.',
    'check.result.phi':
      'phi is the displacement from the ground rounded to 2 decimals, and 0 for grounded and ungrammatical.',
    'check.result.svcscore':
      'svcscore is the angle-bracketed sorted tokens, then the progress and dN with N the distance.',
    'check.result.svcscore-null': 'svcscore is null exactly when the step is ungrammatical.',
    'check.result.ground':
      'ground of a step result is the frozen ground at that step, on the first step the goal just frozen.',
    'check.result.ground-null':
      'ground of a step result is null only on an ungrammatical step while no ground is set yet.',
    'check.result.goal-score':
      'goal_score is the Jaccard overlap of the goal with the first goal, and 1 while no first goal is set.',
    'check.result.context':
      'context is ctx_ and a base-36 hash, the same for the same goal, and null when the goal has no tokens.',
    'check.result.repetition':
      'repetition is an integer that is present only when this exact spelling occurs more than once in the sequence.',
    'check.result.judgment':
      'judgment is present only when one fires, at the third step at the earliest: verdict (abandon, wrong-problem, repeating or narrow), because and counsel.',

    // the reasons
    'reason.grounded': 'The first step is grounded and not drifting.',
    'reason.advancing': 'A later step that is not drifting for any other reason is advancing.',
    'reason.goal-drift': 'A goal whose overlap with the ground is too low is goal-drift.',
    'reason.ungrammatical': 'A step whose progress or goal cannot be spelled is ungrammatical.',
    'reason.stalled': 'stalled needs more than four distance readings.',
    'reason.oscillating': 'oscillating needs a cycle in the readings.',
    'reason.self-report-stuck':
      'self-report:stuck is said of a step that reported stuck and of no other.',
    'reason.self-report-circling':
      'self-report:circling is said of a step that reported circling and of no other.',
    'reason.ground-frozen': 'The ground of a sequence never moves with the work.',

    // every route
    'http.json-errors': 'Every error body is JSON with an error string.',
    'http.prefix': 'Every path of the OpenAPI document lies under /v1.',
    'http.deprecation':
      'Every /v1 answer, errors included, carries deprecation: true and no sunset.',
    'http.no-successor': 'link names no successor-version while the v2 route does not exist.',
    'openapi.etag':
      'Both descriptions carry an etag and are made once for each list of base addresses; if-none-match with it is 304 without a body.',
    'openapi.served': 'GET /v1/openapi.json answers a valid OpenAPI 3.1 document without a key.',
    'openapi.version': 'info.version of the OpenAPI document is 2026-08-27.',
    'openapi.tags':
      'Every operation of the OpenAPI document has one tag of detector, account, operating, team and field.',
    'openapi.servers':
      'The OpenAPI document names the base address and, when set, the alternative one.',
  }),

  ...written('api', 2, {
    // every route
    'http.headers':
      'Every /v1 answer, errors included, carries link: <{base_url}/docs/migration>; rel="deprecation", an x-request-id of its own and cache-control: no-store.',
    'http.migration-page': 'The page /docs/migration exists.',
    'http.utf8': 'Bodies are JSON in UTF-8, in and out.',
    'http.bad-request-detail': 'The detail of a 400 bad_request names the field and what to send.',
    'http.404': 'An unknown route is 404 not_found.',
    'http.405-allow':
      'A known route with another method is 405 method_not_allowed with an allow header.',
    'http.413': 'A body over 256 KiB is 413 payload_too_large.',
    'http.turns':
      'No request that brings texts to be judged, however long and in whatever script, keeps the event loop for 500 ms of processor time in one piece.',
    'http.500':
      'A fault of ours is 500 internal, without a stack, a table name or anything of an account.',
    'http.page-policy':
      'Every HTML page carries a content-security-policy that allows its own style and form and nothing else, and no frame around it.',
    'http.ambiguous':
      'A request with several Host or Authorization headers, without Host in HTTP/1.1, without an HTTP version or with another transfer encoding than chunked is 400 bad_request, and its connection is closed.',
    'http.continue':
      'A request that expects 100-continue is asked for its body once it is admitted, and never when it is refused unread.',
    'http.key-ignored': 'A key on a keyless route is ignored, also an unknown one.',

    // POST /v1/check
    'check.unknown-fields': 'Unknown body fields are ignored.',
    'check.text.limit':
      'A ground or goal of 4,000 characters is measured; a longer one is 400 bad_request, in both forms.',
    'check.text.well-formed':
      'NUL and lone surrogates become U+FFFD before a text is looked at, and so it is echoed.',
    'check.counter.canonical':
      'An IP address in the header is canonicalised: the spellings of one address share a bucket.',
    'check.counter.other-value':
      'A header value that is no IP address is a bucket as sent, by its first 64 characters.',
    'check.counter.bounded':
      'A day has buckets for at most 100,000 addresses; all further ones share one bucket for each kind of call.',
    'check.detector.field': 'The body field detector chooses the detector of this call.',
    'check.detector.unknown': 'A detector that does not exist is 400 bad_request.',
    'check.result.additive':
      'Every step result has detector (its name), confidence (0-1, how sure drifting is), uncertain (boolean, never true beside drifting true) and why (one factual sentence with the numbers that decided).',
    'check.same-bytes': 'The same body is answered with the same bytes.',
    'check.rounded': 'phi, goal_score and confidence have at most 2 decimals on the way out.',

    // the detector overlap: what a text becomes
    'detector.vectors': 'The replayable cases of the published vectors give the published results.',
    'detector.tokens.lower-case': 'A goal is lower-cased before it is cut into words.',
    'detector.tokens.pattern':
      "The words of an ASCII goal are the runs of a-z, 0-9 and the apostrophe; everything else separates: it's and a lone ' are words.",
    'detector.tokens.stop-words':
      'Exactly these 30 words are dropped, before stemming: a an and as at be by for from i in into is it my of on or our out so that the then this to up we with your.',
    'detector.tokens.stem':
      'A word of 5 or more characters loses one leftmost match of (ings?|edly|ed|ers?|es|s|tion|ment)$: one pass, no undoubling, no least stem (classes is class, class is clas, statements is statement, things is th).',
    'detector.tokens.set': 'Tokens are a set: order and repetition of words change nothing.',
    'detector.tokens.sorted': 'For spelling, tokens are sorted by code unit.',
    'detector.tokens.table':
      'The published texts give the published tokens: building a parser is build pars, users is us while user stays, fix_the/gate is fix gate, C++ and C# are both c.',
    'detector.script.every':
      'Beyond ASCII every script is spelled: the same Chinese, Arabic or accented goal twice is advancing, and another one is not.',
    'detector.script.nfc': 'A goal in NFC and the same in NFD have the same tokens.',

    // the detector overlap: its numbers
    'detector.overlap': 'Overlap is shared tokens over union tokens.',
    'detector.overlap-empty':
      'Of two token-less goals the overlap that decides is 0 and the goal displacement in phi is 0: goal-drift with phi 0.',
    'detector.goal-score':
      'goal_score is 1 when the first goal has no tokens, and else has two decimals.',
    'detector.phi.formula':
      'phi is 0.5 of the goal displacement, 0.3 of the distance from the ground over 10 and 0.2 when progress differs from that of the ground.',
    'detector.phi.table':
      'phi is 0 for an identical step, .15 five away, .20 for another progress, .50 for a disjoint goal, .85 for all three, 1 at the most.',
    'detector.phi.rounding':
      'phi is rounded as toFixed(2) rounds: 0.125 is 0.13 and 0.625 is 0.63.',
    'detector.phi.unrounded': 'Thresholds compare the unrounded numbers.',
    'detector.goal-min': 'goal-drift begins below an overlap of 0.30; exactly 0.30 passes.',
    'detector.self-report-min': 'A self-report fires only when phi is above 0.15.',
    'detector.pairs':
      'The published surprises hold: refund order 1234 to 9876 is advancing at .50, parse files to parser file is goal-drift at 0, a to b is goal-drift with goal_score 1.',

    // the detector overlap: the order of its reasons
    'detector.order':
      'The first reason that holds is answered: ungrammatical, grounded, self-report, excursion or goal-drift, stalled, advancing.',
    'detector.ungrammatical.first':
      'ungrammatical comes before everything: a blank goal, or a progress not exactly advancing, stuck or circling, is drifting with phi 0 and sets no ground.',
    'detector.grounded.late':
      'The first grammatical step is the ground, also after ungrammatical ones, and also when its goal has no tokens.',
    'detector.self-report.two-strike':
      'A stuck or circling report drifts only when the reason recorded before it was a drift: the first warns, a second in a row interrupts.',
    'detector.self-report.before-goal-drift': 'A self-report comes before goal-drift and hides it.',
    'detector.self-report.stuck-ground':
      'When the ground itself was stuck, a stuck report fires only when something else moved.',
    'detector.prev':
      'ungrammatical, goal-drift, stalled and self-reports count as the drift before: stuck right after one of them drifts at once.',
    'detector.goal-drift.at-once': 'goal-drift drifts at its first step.',
    'detector.excursion':
      'A goal below 0.30 with a declared parent of overlap 0.30 or more with the first goal is an excursion: not drifting, phi as measured.',
    'detector.rejected-parent': 'A goal below 0.30 with a parent below 0.30 too is goal-drift.',
    'detector.user-turn':
      'A user turn whose goal differs in spelling moves the ground and is grounded; history starts from the new ground.',
    'detector.history':
      'Steps that are self-reports, goal-drift, excursion or ungrammatical add nothing to the distance history.',
    'detector.stalled':
      'stalled needs a fifth accepted distance, and fires when the least of the last 4 is not below the one before them; any drop inside prevents it.',
    'detector.stalled.two-strike':
      'stalled drifts only when the reason recorded before it was a drift.',
    'detector.oscillating.periods':
      'A cycle of period 2 fires at the 6th reading, 3 at the 6th, 4 at the 8th, 5 at the 10th, 6 at the 12th, and 7 never.',
    'detector.oscillating.distinct':
      'A cycle needs at least 2 distinct goals; A A A B twice has period 4 and fires.',
    'detector.oscillating.overlay':
      'oscillating replaces the answered reason with drifting true and the measured phi, while the recorded reason stays for what follows.',
    'detector.oscillating.once': 'A cycle is reported once, and again only after it was gone.',

    // the detector overlap: spelling, repetition, judgments
    'detector.spelling':
      'ship the sky billboard, advancing, 5 is spelled ⟨billboard|ship|sky⟩ advancing d5, and a token-less goal ⟨⟩ advancing d4.',
    'detector.spelling.parent':
      'A declared parent adds ⊂ and its tokens in angle brackets to the spelling.',
    'detector.context':
      'context is the 32-bit FNV-1a of the sorted tokens joined by | in base 36: build the parser and building a parser are ctx_1sax889.',
    'detector.repetition':
      'repetition counts the steps of this spelling so far, this one included.',
    'detector.judgment.needs': 'No judgment fires without a ground or before the third step.',
    'detector.judgment.order':
      'Of the judgments whose condition holds the first in the published order is answered.',
    'detector.judgment.abandon':
      'From 12 steps on, an accepted distance that stands no lower than it started is abandon.',
    'detector.judgment.wrong-problem':
      'Three or more goal-drifts, more than user turns, with no distance closed are wrong-problem.',
    'detector.judgment.wrong-problem-cycle':
      'A cycle fired before this step and a distance at its highest are wrong-problem.',
    'detector.judgment.repeating':
      'A spelling written 3 times with no distance closed is repeating.',
    'detector.judgment.narrow':
      'A last accepted distance of 6 or more after 4 comparisons that did not fall is narrow.',
    'detector.judgment.narrow-stalls':
      'At least one stall, no distance closed and a last accepted distance of 4 or more are narrow.',
    'detector.judgment.drift-not-accepted':
      'Three goal-drifts are wrong-problem even while the reported distance falls.',
    'detector.judgment.words': 'because gives the numbers of the case and counsel what to do next.',

    // the detector overlap: what the advice conveys
    'detector.advice.ungrammatical':
      'The advice of ungrammatical asks for a clear goal and a valid progress.',
    'detector.advice.grounded': 'The advice of grounded says that the ground is set.',
    'detector.advice.self-report':
      'The advice of a first self-report says that the run counts as drifting if it holds on the next step; of a repeated one, that the ground is still owed.',
    'detector.advice.goal-drift':
      'The advice of goal-drift gives the overlap to 2 decimals and three causes: the user redirected, a sub-task to declare, or return.',
    'detector.advice.rejected-parent':
      'The advice after a rejected parent gives its measured overlap and the 0.30 floor.',
    'detector.advice.excursion':
      'The advice of an excursion gives both overlaps and says that the parent is still owed.',
    'detector.advice.stalled':
      'The advice of a first stall lists the recent distances; of a repeated one, says that the ground is still owed.',
    'detector.advice.advancing': 'The advice of advancing gives phi to 2 decimals.',
    'detector.advice.oscillating': 'The advice of oscillating names the period.',
  }),

  ...written('configuration', 2, {
    // commands
    'command.start':
      'plumbline serve listens on http://127.0.0.1:8787 with an embedded database under ./data.',
    'command.start-curl': 'On the first start a curl line is printed that works.',
    'command.check':
      'plumbline check --ground --goal prints one verdict without a server or a key.',
    'command.check.options':
      'plumbline check reads --distance and --progress, and --json prints the verdict as JSON.',
    'command.check.exit': 'plumbline check exits 0 on the errand, 1 drifting and 2 on bad usage.',
    'command.check.steps':
      'plumbline check --steps FILE.jsonl reads a sequence of any length and prints one verdict a line.',
    'command.eval.pairs':
      'plumbline eval measures labelled pairs of ground, goal and same or drift.',
    'command.eval.runs': 'plumbline eval measures labelled runs of a ground and steps.',
    'command.eval.measures':
      'plumbline eval prints precision, recall, false alarms per 1,000 clean steps, AUC, detection delay and clean runs alarmed, each with a 95 % interval.',
    'command.eval.options':
      'plumbline eval --detector chooses the detector, and --json prints the measures as JSON.',
    'command.eval.predictions':
      'plumbline eval --predictions OUT.jsonl writes drifting, uncertain, confidence, phi and score per item in input order.',
    'command.eval.events':
      'plumbline eval measures labelled runs with messages of the user, by kind of drift and by effect.',
    'command.migrate': 'plumbline migrate brings the configured database to the current schema.',
    'command.published': 'The published package offers the commands as plumbline.',

    // settings
    'settings.faults':
      'Every fault of the settings is reported at once and the process does not start.',
    'settings.later':
      'A setting that is planned and not there yet is warned of as such, and not as one that is not known.',
    'settings.env-file': 'A .env file is read when present.',
    'settings.port-zero': 'PORT 0 picks a free port and prints it.',
    'settings.host': 'PORT and HOST say where it listens.',
    'settings.database':
      'DATABASE_URL takes sqlite:FILE, sqlite::memory: and postgres://, and defaults to sqlite:./data/plumbline.db.',
    'settings.base-url':
      'PLUMBLINE_BASE_URL is used in links, and defaults to the listening address.',
    'settings.detector':
      'PLUMBLINE_DETECTOR sets the default detector, and an unknown one is a fault.',
    'settings.check-per-day':
      'PLUMBLINE_CHECK_PER_DAY is the calls a day and address, and the 429 names it; 0 is unlimited.',
    'settings.client-address':
      'PLUMBLINE_CLIENT_ADDRESS names the header that holds the caller address; it counts from loopback and private networks, and any other peer that sends it is its socket address. socket counts by the address of the connection.',
    'settings.trusted-proxies':
      'With PLUMBLINE_TRUSTED_PROXIES the header counts only from peers inside these CIDRs.',
    'settings.address-list':
      'Of a list of addresses the rightmost that is no trusted proxy counts, and an entry that is no IP address is unknown.',
    'settings.public-warning':
      'A server on a public HOST without PLUMBLINE_TRUSTED_PROXIES or socket warns at start, and so does one off loopback with mail and without PLUMBLINE_BASE_URL; no link leads to an address that stands for all.',
    'settings.log-level': 'LOG_LEVEL sets the level of the log, info by default.',

    // the process
    'process.healthz': 'GET /healthz answers while the process is alive, without a key.',
    'process.readyz':
      'GET /readyz answers 200 when the database is writable and migrations are done, without a key.',
    'process.metrics': 'GET /metrics answers Prometheus text, without a key.',
    'process.shared-work':
      '/readyz and /metrics do their work at most four times a second, however many ask, and never answer with a result that is older than the question.',
    'process.metrics-port': '/metrics can be bound to another port.',
    'process.sigterm.drain':
      'On SIGTERM it is not ready at once, refuses new connections and answers the requests in flight.',
    'process.sigterm.exit': 'After SIGTERM it exits 0 within 10 s, and at once on a second one.',
    'process.sigterm.npm':
      'A server started by npm start, npm run plumbline -- serve or npx plumbline serve ends at a SIGTERM to npm.',
    'process.log.start-and-stop':
      'The log has one line when the server starts and one when it stops, which names the signal or the fault.',
    'process.no-outbound': 'It opens no outbound connection while none is configured.',
    'process.nodes-share': 'Nodes on one PostgreSQL share the daily count.',
    'process.log.address':
      'The log names the address of a caller with a refusal (4xx), and with nothing else but a change.',
    'process.log.changes':
      'Every change of an account or a key over HTTP is a line of the log at info, with the action, the account, the id and beginning of the key, the request id and the address.',
    'process.metrics.gone':
      'A request whose caller goes away before its answer is out is counted once, with the status 499.',
    'process.log.no-goal': 'The log never holds a goal above debug level.',
  }),

  ...written('interface', 3, {
    // keys and tiers
    'key.header': 'A keyed route takes the key from Authorization: Bearer.',
    'key.query':
      'A keyed route takes the key from the query parameter key wherever it takes the header.',
    'key.no-key': 'A keyed request without a key is 401 no_key with a detail.',
    'key.bad-key': 'An unknown key is 401 bad_key without a detail.',
    'keys.disabled-open': '/v1/keys is disabled and needs no key to say so.',
    'tiers.open': '/v1/tiers answers the tier table without a key.',
    'tiers.order': 'The tiers are ground, solo, group, pro and enterprise, in this order.',
    'admin.credential': '/v1/admin routes take a credential of their own and no account key.',

    // GET /v1/cost
    'cost.key': 'GET /v1/cost needs a key, in the header or the query.',
    'cost.not-metered': 'GET /v1/cost does not count against a quota.',
    'cost.scanned':
      'GET /v1/cost sums the first 100 entries of a run index that is newest first and capped at 200.',
    'cost.expired': 'Runs whose state has expired are skipped and not counted in runs.',
    'cost.tier': 'tier of the cost summary is the tier of the account.',
    'cost.runs': 'runs counts the runs found among the 100 most recent index entries.',
    'cost.runs-with-tokens':
      'runs_with_tokens counts runs with a step that carries a numeric token count.',
    'cost.steps': 'steps counts all trace steps of the scanned runs, instrumented or not.',
    'cost.tokens': 'tokens is the sum of the tokens reported to POST /v1/drift.',
    'cost.overhead': 'overhead_tokens is the sum over steps whose overhead is truthy.',
    'cost.always':
      'work_tokens, overhead_fraction and tokens_per_step are always present and always numbers.',

    // runs
    'drift.stateful': 'POST /v1/drift needs a key and remembers the ground per run.',
    'drift.excursion': 'excursion can occur on POST /v1/drift.',
    'drift.outcome-no-step': 'POST /v1/drift/outcome sets outcome and score without adding a step.',
    'me.usage': 'GET /v1/me answers the tier of the key and the usage of today.',
  }),

  ...written('api', 3, {
    // every keyed route
    'quota.kinds':
      'A GET counts as a read and every other method as a write against the daily quota of the tier.',
    'quota.headers': 'Metered answers carry the three x-ratelimit headers.',
    'quota.429':
      'Past the quota the answer is 429 rate_limit with detail, retry_after_s and retry-after.',
    'quota.not-metered':
      '/v1/cost, /v1/me, /v1/tiers and /v1/upgrade are not metered, nor are what ends or replaces a key, and the first key of a sign-in; every other keyed route is.',
    'quota.account': 'Quotas are per account, whatever key was used.',
    'quota.what-counts': '401, 402, 404 and 429 do not count; 400 and replays do.',
    'http.before-key': 'Unknown routes are 404 and wrong methods 405 before any key is looked at.',
    'http.times': 'Times are ISO 8601 strings in UTC.',
    'key.header-alone':
      'The header, when present, decides alone: a good query key does not help a bad header.',
    'key.format':
      'A key is pl_live_, 43 base62 characters, an underscore and a 6-character base62 CRC-32 of what precedes that underscore.',
    'key.checksum': 'A key whose checksum does not match is refused without a look-up.',
    'key.hashed': 'Only the SHA-256 of a key is stored, and the key is shown once.',
    'key.opaque-account': 'account is an opaque acct_ id in every answer and event, never the key.',
    'key.several':
      'An account holds several keys, to list, create (201) and revoke; a revoked one is bad_key.',
    'key.rotate':
      'POST /v1/me/keys/rotate gives a new key and lets the old one live for grace_hours.',
    'tenant.isolation': 'What belongs to another account answers as if it did not exist.',
    'list.limit': 'Lists take limit 1-200, default 50; any other limit is 400.',
    'list.cursor': 'Lists are newest first and go on by cursor; next_cursor is null at the end.',
    'id.length': 'run_id and the like are 1-200 characters of any text, unique per account.',
    'idempotency.replay':
      'The same Idempotency-Key and the same body within 24 h answer the same bytes with idempotent-replayed: true and do nothing twice.',
    'idempotency.conflict':
      'The same Idempotency-Key with another body is 409 idempotency_conflict.',
    'idempotency.step-id': 'step_id does the same within account and run.',
    'idempotency.step-id-batch':
      'step_id does the same for an entry of a batch, alone and in a batch alike; one with another body is 409 and refuses the batch, naming the index.',
    'idempotency.only-2xx': 'Only 2xx answers are remembered.',
    'idempotency.waits': 'A second use while the first is under way waits for it.',
    'idempotency.scope': 'An Idempotency-Key is scoped to account and route.',

    // POST /v1/drift
    'drift.result':
      'POST /v1/drift answers the step result with run_id, step (from 1) and revision.',
    'drift.run-default': 'run_id is run when none is given.',
    'drift.readings': 'progress and distance are read as in the sequence form of the check.',
    'drift.same-as-check':
      'The steps of a run get the verdicts that the same sequence gets from the check.',
    'drift.goal-missing': 'A missing, null or non-string goal is 400.',
    'drift.ungrammatical':
      'A blank goal or an unknown progress is the verdict ungrammatical, not a 400.',
    'drift.goal-trimmed': 'Goals are stored and answered trimmed.',
    'drift.ground':
      'ground on the first step is the ground, and the goal of that step is measured against it at once.',
    'drift.user-turn':
      'A user turn whose goal or ground differs in spelling moves the ground and adds one to revision; it answers grounded, or measures its goal against the ground it brings.',
    'drift.user-turn-same':
      'A user turn that restates the ground, or is ungrammatical, moves nothing.',
    'drift.user-turn-ground': 'A user turn with ground makes that text the ground.',
    'drift.after-move':
      'After a move goal_score, phi and the history of the detector start from the new ground.',
    'drift.revision-zero': 'revision is 0 before any ground and 1 for the first.',
    'drift.parent':
      'parent_overlap is present when a parent was declared, and always its Jaccard overlap.',
    'drift.agents': 'A sub-agent has a ground of its own and can never touch that of another.',
    'drift.step-counts-all': 'step counts the steps of all agents of a run.',
    'drift.tokens': 'tokens is a number of 0 or more; anything else is 400.',
    'drift.overhead': 'overhead is stored as truthy or not.',
    'drift.plan': 'plan is up to 50 strings, and a new one replaces the old.',
    'drift.arm': 'arm is treatment or control; anything else is 400.',
    'drift.detector':
      'detector is chosen at the first step of a run, ignored at later ones, and 400 when unknown.',
    'drift.recurrence':
      'recurrence counts the earlier runs of the account that opened this context, and is present above 0.',
    'drift.recurrence-kept':
      'recurrence counts runs that are kept: one that expired or was deleted is not counted, and a context that no kept run has opened is deleted.',
    'drift.ceiling': 'ceiling is the least distance ever reached in this context.',
    'drift.abandon-history':
      'A context opened in 2 earlier runs with no distance closed is abandon.',
    'drift.repetition': 'repetition is within the run and agent.',
    'drift.blank-fields':
      'goal_score of a blank goal is 1 or its overlap with the ground, and context is null.',
    'drift.durable': 'A step is durable before it is answered.',
    'drift.order': 'Steps of a run are strictly ordered and gap-free under concurrent writers.',
    'drift.batch':
      'POST /v1/drift/batch applies 1-500 steps in order, atomically per run, and answers results.',
    'drift.batch-refused':
      'A batch with a bad entry is refused whole, with a 400 that names the index.',

    // runs
    'run.read': 'GET /v1/drift/run answers run and trace by run_id or its alias id.',
    'run.fields':
      'run holds run_id, ground, revision, grounds, created, updated, expires, steps, drifting, drifting_steps, last_reason, phi, max_phi, tokens, overhead_tokens, outcome, score, note, pair, arm, judgment and agents.',
    'run.grounds':
      'grounds lists revision, goal, by (user when the step carried it, else first) and at.',
    'run.main-agent': 'drifting, last_reason and phi of a run speak of the main agent.',
    'run.trace':
      'trace ascends, the first 1,000 steps unless limit (up to 10,000) and cursor say otherwise.',
    'run.trace-fields':
      'A trace step holds step, ts, goal, progress, distance, reason, drifting, phi, goal_score, svcscore and context, and what was reported beside them.',
    'run.missing': 'An unknown, foreign or expired run is 404 no_run.',
    'runs.list': 'GET /v1/drift/runs lists runs by last step, newest first, without traces.',
    'runs.filters': 'Runs are filtered by drifting, outcome and since.',
    'outcome.set':
      'POST /v1/drift/outcome takes success, failure, abandoned or unknown, a score of 0-1 and a note, and answers ok and run.',
    'outcome.refused':
      'An unknown outcome or a score outside 0-1 is 400, and an unknown run 404 no_run.',
    'outcome.retention': 'An outcome does not extend retention.',
    'run.delete': 'DELETE /v1/drift/run answers ok and how many steps went; a second one is 404.',
    'run.parts':
      'An answer shows 100 grounds, the newest of the main agent and then those of sub-agents, and the first 100 sub-agents of a run, in a list 20 each; grounds_cursor and agents_cursor, present only where there are more, show the others.',
    'export.ndjson': 'GET /v1/export streams every run and step of the account as NDJSON.',
    'export.parts':
      'Grounds and sub-agents of a run beyond the first 100 have lines of their own in the export.',
    'export.one':
      'One export of an account is under way at a time; a second one is 429 rate_limit and does not count.',
    'export.turns': 'An export lets other requests have their turn after each page.',
    'answer.stall': 'A reader that takes nothing of a long answer for 30 seconds is cut off.',
    'retention.expires':
      'A run lives retention_days of its tier from its last step, then reads as 404.',
    'retention.job': 'Expired runs are deleted by a job.',
    'run.delete-answers':
      'The stored answers that name a run, and the grounds that a tool has put aside for it, are deleted with the run.',
    'retention.tables':
      'Every table shrinks: its rows go when they are old, with their run or conversation, or with their account, or it is bounded by design.',
    'retention.keyless':
      'What callers without a key store is gone after a day and an hour, and no alert of theirs is kept.',
    'me.delete':
      'DELETE /v1/me with the id of the account as confirm refuses its keys at once, erases all that belongs to it within a minute, and answers what it erased.',
    'me.delete-tables': 'Nothing of a deleted account is left in any table, and all of others is.',
    'me.delete-team':
      'An account that owns a team with members is not deleted by its key (409); the operator deletes it with the team.',
    'me.delete-in-flight':
      'What a request in flight stores for a deleted account is erased with it.',
    'me.export':
      'GET /v1/me/export streams every row that belongs to the account as NDJSON, without secrets.',
    'me.export-readable':
      'Every time in GET /v1/me/export is ISO 8601, and what is stored as JSON is JSON there.',
    'dialogue.delete':
      'DELETE /v1/dialogue?conv_id= answers ok and how many turns went; an unknown one is 404 no_conversation.',
    'escalation.delete':
      'DELETE /v1/escalation?id= answers ok; an unknown one is 404 no_escalation.',
    'command.accounts-delete':
      'plumbline accounts delete ID --yes erases an account, also while the server runs; without --yes it erases nothing.',
    'admin.delete-account':
      'DELETE /v1/admin/accounts?account= erases an account as its own key would; an unknown one is 404 no_account.',
    'storage.sorting':
      'Lists and cursors sort text by its code points on both databases, whatever the locale of the cluster.',
    'storage.file-scrubbed':
      'After a deletion the text is in no byte of the SQLite file or its log.',
    'storage.file-private':
      'A new SQLite file and its log can be read by their owner alone, also in a folder that others may read.',

    // money and evidence
    'cost.tokens-per-step': 'tokens_per_step divides by all steps, and is 0 when there are none.',
    'cost.overhead-fraction':
      'overhead_fraction divides by all tokens, and is 0 when there are none.',
    'experiment.pairs':
      'GET /v1/experiment answers each pair with both arms and delta_tokens, treatment minus control.',
    'experiment.totals':
      'Totals take complete pairs only; a pair without token counts is incomplete; runs of one pair and arm add up.',
    'experiment.too-few':
      'Below 6 complete pairs the verdict is too few, and ci95 and p_value are null.',
    'experiment.test':
      'p_value is a two-sided sign-flip test, exact up to 20 pairs, sampled with a fixed seed above; less and more need p < 0.05.',
    'experiment.interval': 'ci95 is a bootstrap interval of the mean difference with a fixed seed.',
    'experiment.page':
      'An answer tells limit pairs, at most and by default 1,000, and next_cursor leads to the next ones; the numbers are over all pairs.',
    'experiment.turns': 'Many pairs are compared in slices, between which other requests go on.',
    'data.windows':
      'POST /v1/data measures every window against the first and answers windows, first_drift, max_phi, mean_phi and tokens.',
    'data.window-fields':
      'A window holds index from 0, from and to (0-based lines, to inclusive), phi, goal_score, drifting, top_new and top_lost.',
    'data.window-size': 'window is 5-1000 lines, 20 by default.',
    'data.means': 'max_phi and mean_phi leave window 0 out, and first_drift is an index or null.',
    'data.partial': 'A partial last window counts when at least half full.',
    'data.forms':
      'POST /v1/data reads text, lines or documents, text/plain, text/csv (column) and application/x-ndjson (field).',
    'data.no-column':
      'csv without column joins the row, and ndjson without field takes the string values of the line.',
    'data.empty': 'No usable line is 400.',
    'data.limit': 'A body of POST /v1/data over 8 MiB is 413.',

    // account
    'keys.disabled': '/v1/keys is 410 disabled with a detail that says where keys come from.',
    'me.fields': 'GET /v1/me answers account, tier, email, keys, team and usage.',
    'me.usage-fields':
      'usage holds date, reads, writes, reads_limit, writes_limit and resets_in_s.',
    'tiers.table':
      'The tiers allow 1,000, 10,000, 100,000 and 1,000,000 reads and as many writes a day, enterprise null; retention is 1, 30, 90, 180 and 365 days; seats 1, 1, 10, 50 and unlimited.',
    'tiers.fields':
      'A tier holds name, reads, writes, retention_days, seats, alerts, digest and price_usd.',
  }),

  ...written('configuration', 3, {
    'command.start-key':
      'On the first start an enterprise account is made and its key shown once: in a terminal on it, otherwise in the file first-key of mode 0600, never in the output; a later start says how to make another.',
    'settings.bootstrap-key':
      'PLUMBLINE_BOOTSTRAP_KEY is the key of the first account, which is then not shown; plumbline keys generate makes one, and one that is not well spelled is a fault.',
    'command.keys-create':
      'plumbline keys create --tier --email --json makes a key, also while the server runs.',
    'command.keys-list': 'plumbline keys list shows the keys without their secrets.',
    'command.keys-revoke': 'plumbline keys revoke ID takes effect on a running server.',
    'command.demo':
      'plumbline demo replays a recorded run with a drift in it against a running server.',
    'command.backup': 'plumbline backup FILE copies the embedded database while it is in use.',
    'command.restore': 'plumbline restore FILE brings a backup back.',
    'command.doctor': 'plumbline doctor checks the configuration and the store.',
    'hosts.doctor':
      'plumbline doctor --hosts says of each host on the machine whether it reports and when it last did, and if not, why, and of its last run how much was seen and how much of it the errand explains.',
    'settings.tiers': 'PLUMBLINE_TIERS names a JSON file that overrides the tier table.',
    'tiers.flags':
      'alerts and digest of the tier table say whose alerts and digests may be set, tested and sent.',
    'settings.admin-token': '/v1/admin routes are 404 while PLUMBLINE_ADMIN_TOKEN is unset.',
    'unavailable.unknown':
      'A 503 says that nothing was stored only when that is certain; when the database did not confirm the commit it names the idempotency key that makes a repetition safe.',
    'unavailable.bounded':
      'A request that cannot be stored is refused with 503 within 5 s, time in the queue included, and at once when too many wait.',
    'counters.outage':
      'While PostgreSQL is away or read-only a node counts daily limits in memory and adds them later, so that what needs no database is answered.',
    'process.clock':
      'On PostgreSQL a node goes by the clock of the database: one whose own clock is wrong says so in its log, deletes nothing early and works no idempotency key twice.',
    'process.nodes-equal':
      'Nodes on one PostgreSQL are equal: none holds state that another needs.',
    'process.start-faults':
      'What keeps the server from starting (a file that is no database or damaged, a PostgreSQL database, role or right that is not there, a port in use, a host that is not this machine) is told in one sentence without a stack or a password.',
    'process.damage':
      'A SQLite file that is found damaged, at the start or later, leaves an error in the log that names doctor and restore, and /readyz answers 503.',
    'process.sqlite-one':
      'A SQLite file has one server: a second one ends with a sentence, and a server that was killed leaves nothing that keeps the next from starting.',
    'command.no-silent-migration':
      'A command other than serve and migrate refuses an older schema with a sentence and changes nothing.',
    'process.sqlite-cli': 'On SQLite the command line works beside the one server.',
    'process.log.no-key': 'The log never holds a key, nor the key of a query string.',
  }),

  ...written('interface', 4, {
    // GET, POST, DELETE /v1/alerts
    'alerts.get':
      'GET /v1/alerts answers the stored config, or null when none is set, in every tier.',
    'alerts.get.modes': 'modes lists reason and default_severity of each mode in the catalogue.',
    'alerts.modes':
      'The modes are ungrammatical, goal-drift, self-report:stuck, self-report:circling and stalled; stalled is info by default.',
    'alerts.key': 'Every alert route is 401 no_key or bad_key without a good key.',
    'alerts.set.tier':
      'POST /v1/alerts is 402 upgrade_required when the tier is exactly ground; every other tier passes.',
    'alerts.set.402':
      'The 402 of POST /v1/alerts has a fixed detail (alerts are a group feature, check and drift history stay free) and upgrade, the product page.',
    'alerts.set.answer': 'POST /v1/alerts answers ok true and the stored config.',
    'alerts.config':
      'A stored config holds url, min_phi, created (when it was last written) and modes when an override survived.',
    'alerts.set.url': 'url is coerced to a string and trimmed.',
    'alerts.set.https':
      'A url that is missing, blank, not https or not on a public host is refused.',
    'alerts.set.hosts':
      'Refused hosts are loopback, 10.x, 172.16-31.x, 192.168.x, 169.254.x, addresses beginning 0., ::1, addresses beginning fd or fe80, names ending .localhost, .internal or .local, and dotless names.',
    'alerts.set.400':
      'A refused url is 400 invalid_webhook with the detail Provide an https:// URL on a public host.',
    'alerts.set.body': 'A missing or unparseable body is read as an empty object and so is 400.',
    'alerts.set.min-phi':
      'min_phi is coerced to a number, 0 when absent or not numeric, then clamped to 0-1.',
    'alerts.set.modes-known':
      'Only the five known mode keys are read; others are discarded, and one that is no object is skipped.',
    'alerts.set.mode-on': 'on is stored as true unless it is literally false.',
    'alerts.set.mode-severity':
      'A severity outside critical, warn and info falls back to the default of the mode.',
    'alerts.set.mode-url':
      'A url of a mode that is blank or breaks the url rule is dropped silently.',
    'alerts.set.mode-min-phi':
      'min_phi of a mode is stored only when not null, coerced and clamped the same way.',
    'alerts.set.modes-empty': 'When no override survives, modes is left out of the stored config.',
    'alerts.set.replaces':
      'A write replaces the config wholesale; omitted fields go back to their defaults.',
    'alerts.delete':
      'DELETE /v1/alerts answers ok true in every tier, whether or not a config existed.',
    'alerts.delete.log-stays': 'Deleting the config does not clear the log.',

    // GET /v1/alerts/log
    'alerts.log':
      'GET /v1/alerts/log answers the log in every tier, an empty array when there is none.',
    'alerts.log.newest-first': 'The log is newest first and holds at most 50 entries.',
    'alerts.log.retention': 'Log entries are kept 30 days.',
    'alerts.log.all': 'Suppressed and real attempts are both logged.',
    'alerts.log.fields':
      'An entry holds ts, run_id, reason, severity, phi, delivered and status, and detail unless it succeeded.',
    'alerts.log.delivered': 'delivered is true only when the webhook answered 2xx.',

    // POST /v1/alerts/test
    'alerts.test.event':
      'The test reads no body and fires run_id test, goal test alert, reason stalled, phi 0.62 and a fixed advice that the webhook is wired.',
    'alerts.test.bypass': 'The test passes the mute and min_phi checks, and only these.',
    'alerts.test.override':
      'A url override of stalled redirects the test, and its severity is the one of stalled, info by default.',
    'alerts.test.logged': 'The test is written to the log.',
    'alerts.test.answer':
      'The test answers ok (always true), delivered (true only for 2xx), status and detail.',
    'alerts.test.detail':
      'detail is empty on success, else no valid webhook configured, webhook returned <status> or the error text cut at 200 characters.',
    'alerts.test.status':
      'status is that of the webhook, and 0 when the request threw or the stored url failed its check.',
    'alerts.test.no-config':
      'Without a config the test is 400 no_config with the detail Set a webhook first: POST /v1/alerts { url }.',
    'alerts.test.402':
      'In tier ground the test is 402 upgrade_required with the detail Alerts are a group feature.',

    // what becomes of an event
    'alerts.state.muted':
      'A mode with on false is suppressed: delivered false, status 0, detail <reason> muted.',
    'alerts.state.below':
      'A phi below min_phi of the mode, else of the account, else 0, is suppressed with detail below min_phi.',
    'alerts.state.no-webhook': 'Without a valid webhook the event is suppressed with status 0.',
    'alerts.state.delivered': 'A 2xx is delivered, without a detail.',
    'alerts.state.failed':
      'Another answer is failed, with its status and the detail webhook returned <status>.',
    'alerts.state.threw':
      'A request that throws is failed, with status 0 and at most 200 characters of its error.',
    'alerts.mode-url': 'The url of the mode is used when set and valid, else that of the account.',
    'alerts.escalation-severity': 'escalation:<reason> is not in the defaults and grades as warn.',

    // the event on its way
    'events.drift': 'A drifting step of POST /v1/drift emits an event.',
    'events.dialogue': 'A drifting turn of POST /v1/dialogue emits an event.',
    'events.escalation': 'An escalation emits an event.',
    'events.request':
      'An event is a POST with content-type application/json and user-agent svc-alerts/1.',
    'events.timeout': 'A webhook has 5 seconds.',
    'events.fair':
      'Events and tests of an account wait neither for receivers nor for names of others that hang, however these change their addresses.',
    'events.structured':
      'Any other host gets event (drift), account, run_id, goal (or null), reason, severity, phi, advice and ts in ISO 8601.',
    'events.team-chat':
      'The incoming-webhook host of the team chat gets { text } with single asterisks for bold.',
    'events.community-chat':
      'The main domain of the community chat, its subdomains and its legacy domain get { content } with double asterisks for bold.',
    'events.chat-text':
      'The text is an icon (red, orange, blue by severity), service name, bold reason, severity in parentheses and Φ with 2 decimals; then goal, run id and advice on lines of their own, goal and advice if present.',
    'events.chat-links':
      'In the community chat a goal or an advice makes no link that hides where it leads.',

    // the routes
    'dialogue.key': 'POST /v1/dialogue submits one turn, and GET lists dialogues or reads one.',
    'digest.routes':
      '/v1/digest reads, replaces and disables the digest, and POST /v1/digest/test sends it at once.',
    'self.routes': '/v1/self reads, sets or advances, and deletes the self and its log.',
    'team.routes':
      '/v1/team, fleet, invite, join, leave and seat serve the seats of the calling key.',
  }),

  ...written('api', 4, {
    // alerts
    'alerts.no-config-logged':
      'Without a config a drifting step still logs its suppressed entry: status 0, no valid webhook configured.',
    'alerts.dialogue-run': 'Entries of a dialogue carry conv_id as run_id.',

    // POST and GET /v1/dialogue, POST /v1/modulate, /v1/recursion-team, operator
    'dialogue.answer':
      'A turn answers conv_id, turn (from 1), reason, drifting, phi, echo, self_echo, dist and advice.',
    'dialogue.first': 'Turn 1 is grounded and freezes the goal; a later goal is a restatement.',
    'dialogue.topic-drift': 'A restatement less than 0.30 similar is topic-drift.',
    'dialogue.echo-spiral': 'A stall with a mean echo of 0.25 or more over 3 turns is echo-spiral.',
    'dialogue.deliberation-stall': 'A stall without such an echo is deliberation-stall.',
    'dialogue.ungrammatical': 'An empty position is ungrammatical.',
    'dialogue.phi':
      'phi of a turn is 1 minus the similarity of the restated goal, or of the position, to the shared goal.',
    'dialogue.modulation':
      'An unknown team or role never loses a turn: the verdict comes with modulation null.',
    'dialogue.list': 'GET /v1/dialogue lists conversations with next_cursor.',
    'dialogue.read':
      'GET /v1/dialogue?conv_id= answers the conversation and its turns, and 404 no_conversation for an unknown one.',
    'modulate.answer':
      'POST /v1/modulate answers the step result and modulation: return, advice, basis, team and role.',
    'modulate.depths':
      'deep acts on ungrammatical, topic-drift and goal-drift; balanced adds echo-spiral and the self-reports; tight acts on every mode.',
    'modulate.unstyled': 'Without a team every drift returns, basis unstyled.',
    'modulate.unknown': 'An unknown team or role is 400 with the valid names.',
    'modulate.run': 'Without run_id the state is the run modulate.',
    'templates.built-in':
      'Built in are deep-search, iterative-refinement and adversarial-deliberation, with their published roles and depths.',
    'templates.store':
      'POST /v1/recursion-team is 201 with ok and template, and replaces the own one of that name.',
    'templates.built-in-name': 'Storing under a built-in name is 409.',
    'templates.read':
      'GET /v1/recursion-team answers all templates, or one by name; an unknown name is 404 no_template.',
    'templates.delete': 'DELETE /v1/recursion-team?name= answers ok.',
    'operator.answer':
      'POST /v1/operator/consult answers allow, reason, detail and checked: drift, group and command.',
    'operator.command':
      'A command on the irreversible list makes the act irreversible whatever was declared; never the other way round.',
    'operator.command.bounded':
      'A command is read in less than 20 ms of processor time; one that repeats itself inside itself too often or nests too deep is unreadable, which counts as irreversible.',
    'operator.clear': 'Acts that are reversible and not outward pass as clear.',
    'operator.escalated':
      'An act is refused as escalated while an escalation of the run is pending or was decided stop.',
    'operator.unchecked': 'An act of a run that was never checked is refused as unchecked.',
    'operator.drifting': 'An act of a run whose last verdict drifts is refused with that reason.',
    'operator.duplicate':
      'An act that another run of the account or team began on the same target within 10 minutes is refused as duplicate; a run repeating itself is not.',
    'operator.order':
      'Of the refusals the first that applies is answered: escalated, unchecked, drift, duplicate.',

    // escalations
    'escalation.create':
      'POST /v1/escalation is 201 with a URL-safe esc_id, status pending and created; the run need not be stored.',
    'escalation.alert': 'An escalation fires an alert escalation:<reason> that grades as warn.',
    'escalation.list':
      'GET /v1/escalation lists the queue with next_cursor, filtered by status pending or decided; another status is 400.',
    'escalation.read': 'GET /v1/escalation?id= answers one; an unknown id is 404 no_escalation.',
    'escalation.wait':
      'wait of 0-30 s holds the answer until it is decided; above 30 is 30, and no number is 400.',
    'escalation.decide':
      'POST /v1/escalation/decide takes id or esc_id, return, allow or stop, and a note.',
    'escalation.decided': 'A second decision is 409 already_decided.',

    // teams
    'team.read': 'GET /v1/team answers the team with seats and members, or null.',
    'team.invite':
      'POST /v1/team/invite is 201 with code and expires (1-720 hours, default 72) for an owner of tier group and above, else 402.',
    'team.first-invite':
      'A team comes into being with the first invite and is named after the label of its owner.',
    'team.seats': 'Pending invites hold a seat.',
    'team.join':
      'POST /v1/team/join answers ok and team; a code is used once, and a member keeps its own tier.',
    'team.join-conflict': 'Joining when seated, full or owner is 409, and the code survives.',
    'team.no-invite':
      'An unknown, used or expired code is 404 no_invite, and the three look the same.',
    'team.leave': 'POST /v1/team/leave answers ok; an owner cannot leave while members sit.',
    'team.seat':
      'POST /v1/team/seat removes a member; a non-owner gets 403 forbidden and an unknown seat 404 no_seat.',
    'team.fleet':
      'GET /v1/team/fleet answers members, totals and collisions; without a team it is the account alone.',
    'team.fleet.turns':
      'GET /v1/team/fleet keeps the event loop for less than 500 ms of processor time in one piece, however long the grounds.',
    'team.collisions':
      'Collisions are live runs of different members whose grounds overlap 0.60 or more.',
    'team.privacy':
      'A member never sees the goals of another unless the owner turned share_goals on.',

    // self, digest, email
    'self.merge': 'POST /v1/self merges what is given and appends to a log of the newest 200.',
    'self.identity': 'identity is default when none is given.',
    'self.read': 'GET /v1/self answers self, or null, and its log.',
    'self.delete': 'DELETE /v1/self erases the self and its log; an unknown one is 404 no_self.',
    'digest.set':
      'POST /v1/digest (solo and above) sets cadence, hour_utc, weekday, channel and url and replaces wholesale.',
    'digest.read': 'GET /v1/digest answers the digest with created and next, or null.',
    'digest.delete': 'DELETE /v1/digest answers ok.',
    'digest.test': 'POST /v1/digest/test sends at once and answers ok, delivered and detail.',
    'digest.content':
      'A digest says runs, steps, drifting share by reason, the five worst runs with links, pending escalations, undelivered alerts, and tokens spent from the first drifting verdict on.',
    'digest.preview':
      'GET /v1/digest/preview answers subject and text of the mail that a digest sent now would be, in any tier, and sends nothing.',
    'digest.fair': 'Tests that hang keep no scheduled digest from being sent.',
    'digest.retried': 'A digest that was not taken is tried again after the pauses of an event.',
    'digest.linear':
      'Making a digest takes time in proportion to the steps it tells of, and one test of it is in flight for an account; another is 409 conflict.',
    'digest.weekday': 'weekday 0 is Sunday.',
    'digest.private': 'A digest address that is private is 400 invalid_webhook.',
    'digest.unconfirmed': 'A digest by mail without a confirmed address is 409 conflict.',
    'me.email':
      'POST /v1/me/email attaches or removes an address and answers ok, email and verified.',
    'me.email-confirm': 'A new address gets a link and nothing else until the link is followed.',
    'me.email-unconfigured': '/v1/me/email without mail configured is 501 not_configured.',
  }),

  ...written('configuration', 4, {
    'settings.webhook-allow':
      'PLUMBLINE_WEBHOOK_ALLOW exempts host:port, host or CIDR at writing and at delivery; the 400 stays as worded and the log names the setting.',
    'settings.alert-retries':
      'PLUMBLINE_ALERT_RETRIES is the further attempts after a failed one, 5 by default; 0 is one attempt.',
    'settings.smtp': 'PLUMBLINE_SMTP_URL and PLUMBLINE_MAIL_FROM configure mail.',
    'process.sigterm.deliveries':
      'After SIGTERM deliveries in flight are finished or left to their lease.',
    'process.log.no-webhook-path': 'The log never holds the path of a webhook.',
  }),

  ...written('interface', 5, {
    'mcp.tools':
      'The tools of /mcp are check_state, modulate, get_history, reset_task, check_dialogue, reset_dialogue, remember_self, resume_self, forget_self, ask_alice, drift_grammar, analyze_language, compare_phrasings, read_field, speak_to_field and field_vocabulary.',
    'grammar.served': 'GET /v1/grammar answers the grammar description.',
    'field.hear': 'POST /v1/hear speaks eight vocabulary words into the field.',
    'field.signal': '/v1/signal answers the current signal and /v1/history its series.',
    'guidance.served': '/v1/guidance answers guidance by framework.',
  }),

  ...written('api', 5, {
    // the field
    'field.vocabulary':
      'The vocabulary is the forty published words in the groups ground, wind, form and change.',
    'field.signal-fields':
      'A signal holds T, Q, R, V, S, rotation, emotion, season, hub_signal, field_sig, n_nodes and ts.',
    'field.ranges': 'T, Q, R, V and S stay in 0-1 and rotation in -1-1.',
    'field.history': 'GET /v1/history?limit= answers one sample a minute, a day kept.',
    'field.hear-forms':
      'POST /v1/hear takes words as an array, a string or text/plain, and answers reply and signal.',
    'field.hear-refused':
      'Another count than eight, or a word outside the vocabulary, is 400 that names the word.',
    'field.deterministic':
      'The same seed and the same words at the same times give the same weather.',
    'field.shared': 'All nodes share one state through the database.',
    'field.keyless': 'The three field routes need no key and have an address bucket of their own.',

    // grammar and guidance
    'grammar.contents':
      'The grammar holds version, fields, progress values, distance range, normaliser, spelling, phi formula and weights, thresholds, reasons in order, judgments, modulation, word lists and a content hash.',
    'grammar.same-constants': 'The grammar is read from the constants of the detector itself.',
    'grammar.no-key': 'GET /v1/grammar needs no key.',
    'guidance.list':
      'GET /v1/guidance lists at least claude-code, codex, cursor, gemini-cli, openai-agents, langgraph, vercel-ai-sdk, mastra, crewai, mcp and plain-http.',
    'guidance.read': 'GET /v1/guidance?framework= answers framework, steps, snippet and notes.',
    'guidance.conversation':
      'The recipes for the AI SDK, LangGraph, OpenAI Agents and Mastra hand over the run, send what the user says next as user_message, and close the client when the process ends.',
    'guidance.python': 'So do the recipes for Python and CrewAI, with the client for Python.',

    // /mcp
    'mcp.check-state':
      'check_state answers the step result, run and step, claims when doing, next or blocked were given, and an unknown progress as a verdict.',
    'mcp.modulate': 'modulate answers as POST /v1/modulate.',
    'mcp.get-history':
      'get_history answers steps (all), drifting (how many) and trace (the last limit, 20 by default).',
    'mcp.reset-task':
      'reset_task suspends the ground, 8 kept, and with goal sets the new one at once.',
    'mcp.resumed-ground':
      'A later check nearer a suspended ground than the live one resumes it as resumed_ground; a user_turn suspends too.',
    'mcp.dialogue': 'check_dialogue answers as POST /v1/dialogue, and reset_dialogue clears it.',
    'mcp.self': 'remember_self, resume_self and forget_self answer as /v1/self.',
    'mcp.ask-alice':
      'ask_alice answers guidance and its source: model when an endpoint is configured, else rules.',
    'mcp.grammar': 'drift_grammar answers as GET /v1/grammar.',
    'mcp.analyze':
      'analyze_language answers words, sentences, variety, repetition, claims, observations, shape and readability.',
    'command.check.uncertain':
      'The command line tells uncertain by exit code 3; a --progress outside the three is bad usage.',
    'mcp.ask-alice.confession':
      'ask_alice never reassures an agent that says its work is not what was asked for.',
    'mcp.compare.vague': 'compare_phrasings does not prefer the vaguer wording.',
    'mcp.own-run': 'With a key too, a connection has a run of its own unless session names one.',
    'mcp.check-state.fields':
      'check_state takes ground, plan, user_message, an enumeration for progress and an optional distance.',
    'mcp.compare': 'compare_phrasings answers a, b, overlap, clearer (a, b or even) and why.',
    'mcp.field':
      'read_field, speak_to_field and field_vocabulary answer as the field routes, with a one-sentence reading.',
    'mcp.revisions': '/mcp speaks the current protocol revision and the one before it.',
    'mcp.session-id':
      'A 2025-era client gets an mcp-session-id on initialize and may go on with or without it.',
    'mcp.state-keyed':
      'With a key the state is the run mcp:<session> of the account, default by default, stored and listed like any run.',
    'mcp.state-keyless':
      'Without a key the state is that of the session id, or else of the address and session; nobody reaches that of another by guessing a name.',
    'mcp.state-none':
      'A caller without key, session and known address has no state: its steps are judged as first ones, nothing of them is stored, and the answer says how to have state.',
    'mcp.state-ceiling':
      'Past 256 MiB of state a day, callers without a key are answered 429 rate_limit and those with one go on.',
    'mcp.models-ceiling':
      'Past 1,000 questions to the chat endpoint and 10,000 pairs of texts to the embeddings endpoint a day, callers without a key are answered by the rules and those with one by the models.',
    'mcp.state-kept': 'Keyless state is kept 24 h and bounded.',
    'mcp.batch':
      'A batch has at most 20 messages, and of methods other than tools/call, ping and notifications each once; any other is refused whole.',
    'mcp.origin': 'The own origin of the server is accepted.',
    'mcp.schemas':
      'Every tool has a title, description, annotations, input schema and output schema with structured content.',
  }),

  ...written('configuration', 5, {
    'command.mcp': 'plumbline mcp serves the tools over stdio, offline, without a key.',
    'settings.tools-per-day':
      'PLUMBLINE_TOOLS_PER_DAY is the keyless tool calls a day and address, 1,000 by default; 0 is unlimited.',
    'settings.guide':
      'PLUMBLINE_GUIDE_URL, _KEY and _MODEL configure the chat endpoint of ask_alice.',
  }),

  ...written('api', 6, {
    'meaning.default':
      'meaning is the default detector once it ships, and overlap stays selectable.',
    'meaning.swap':
      'A step with another identifier of the same kind than its ground is uncertain, and drift if the next step has the same swap.',
    'meaning.forbidden':
      'A step that does what its ground forbids is drift at once, also by another word or a command.',
    'meaning.off-limits':
      'A step that works on a thing that its ground names only to leave it alone is drift; where it may only speak of the thing it is uncertain, and drift if the next step goes on with it.',
    'meaning.act':
      'An act with consequences that neither ground nor plan names is never clearly on the errand.',
    'meaning.acts':
      'Two acts in a row with consequences that nobody asked for are drift; between other steps each is evidence by itself.',
    'meaning.plain':
      'Greetings and thanks around a ground and narration around a goal change no verdict.',
    'meaning.three-way':
      'meaning answers on the errand, drifting or uncertain, and uncertain never drifts.',
    'meaning.parts':
      'A goal that restates a sentence of a long assignment is on the errand, however long the rest is.',
    'meaning.phi': 'Under meaning phi keeps its formula with the goal displacement of the model.',
    'meaning.lexical-fields':
      'Under meaning goal_score, svcscore, context, repetition and judgment keep their meaning.',
    'meaning.order': 'Under meaning the order of the reasons is the published one.',
    'meaning.sustained':
      'Weaker evidence must be sustained; one overwhelming step may fire at once.',
    'meaning.parent':
      'Under meaning parent_overlap stays the Jaccard value and the decision uses the model.',
    'meaning.same-bytes': 'Under meaning the same input gives the same bytes on any machine.',
    'meaning.encoder':
      'An encoder in the process reads each goal beside the errand before it is judged.',
    'meaning.encoder.languages': 'What the encoder reads counts for English only.',
    'meaning.sequence':
      'What an encoder reads is weighed in sequence: with the likeness of a goal to the steps before it, and with how it goes on from the newest that served the errand.',
    'meaning.doubtful-swap':
      'A step with another file, date or titled person than its ground is uncertain, and no drift by itself.',
    'meaning.another-world':
      'A goal from another world is drift at its first step; an honest one without a shared word is not.',
    'settings.encoder':
      'A server without the file of the encoder starts, says so, and judges with the first stage.',
    'verdict.probability':
      'drift_probability is the probability of drift, and confidence the probability that drifting is right.',
    'verdict.evidence': 'evidence holds the score of the step, the sum of the run and the limit.',
    'verdict.words': 'words holds the shared and the missing words of the goal, whole.',
    'verdict.words.particles': 'Particles of a language do not count as shared words.',
    'verdict.stands-on':
      'stands_on is the assignment text, plan item or parent that the step was nearest to.',
    'verdict.coverage': 'coverage says whether the language and the words were known.',
    'verdict.languages': 'That ground and goal differ in language is said once.',
    'verdict.plain': 'why says what was found in plain words.',
    'verdict.uncertain': 'No uncertain step has a confidence that contradicts it.',
    'verdict.overlap': 'The published detector answers as before.',
    'verdict.stored': 'What a verdict holds is stored with the step and shown in the trace.',
    'verdict.stored.old': 'A step that was stored without its verdict answers null.',
    'verdict.run':
      'A run shows plan, detector, uncertain, drift_tokens, first_drift_step and unattended_ms.',
    'verdict.run-incident':
      'A run shows incident: the id of the open incident of its main agent, or null.',
    'verdict.agents':
      'A sub-agent shows ground, revision, first_step, last_step, phi, max_phi, drifting_steps and tokens.',
    'runs.index': 'The index holds every run within retention, page by page.',
    'runs.search':
      'q finds the runs whose requests and goals hold all its words, in any case and in any order.',
    'runs.until': 'until finds the runs updated before it.',
    'runs.finished':
      'finished on GET /v1/drift/runs keeps the runs with an outcome or without one; counts.finished counts those with one.',
    'runs.state':
      'A listed run has a state: waiting while an escalation of it waits for an answer, else drifting, uncertain or calm by its last verdict; state filters by it, and counts counts the runs in each.',
    'runs.spark':
      'spark of a listed run holds phi and state of at most 40 of its steps, evenly chosen.',
    'runs.bounded':
      'A list looks at a bounded number of runs and steps, and next_cursor goes on where it stopped.',
    'agents.parent':
      'parent_agent_id on a step of a sub-agent is remembered with the agent and shown in agents; null if no step has said it.',
    'agents.parent.refused':
      'A parent_agent_id that is no text of 1-200 characters, or is the agent itself, is 400.',
    'agents.grounds':
      'grounds of a run hold those of its sub-agents, each with its agent_id, after those of the main agent.',
    'verdict.events':
      'An event of a step holds ground, why, step, agent_id, drift_probability and swap.',
    'alerts.test.sent':
      'The test answers latency_ms and the body that was sent, null without a valid webhook.',
    'events.url':
      'An event of a run holds url, the address of the run in the dashboard, when PLUMBLINE_BASE_URL is set; without it the field is absent.',
    'events.uncertain':
      'An incident closes at a step that is seen to be on the errand; an uncertain step leaves it open.',
    'events.state':
      'An event holds state: that of its incident, or outside one opened if the step before it did not drift for the same reason, else continues.',
    'rules.stalled':
      'Under meaning a stall alone is never drift, and its window grows with the run.',
    'rules.oscillating':
      'Under meaning a cycle counts if the distance at its same place has not fallen.',
    'rules.drift-ends': 'A drift ends when a step is seen to be on the errand.',
    'rules.first-goal': 'A first goal that comes with a ground is a claim.',
    'rules.parent-repeats': 'A parent that repeats the ground adds nothing.',
    'rules.plan-harmless': 'A plan never makes an honest step worse.',
    'rules.own-plan': 'A plan of the agent covers a step only as far as it is near the assignment.',
  }),

  ...written('configuration', 6, {
    'command.eval.budget':
      'plumbline eval --budget N picks the threshold that keeps alarms at or below N per 1,000 clean steps.',
    'command.adapt':
      'plumbline adapt writes a table from a repository or the own history that the detector adds.',
    'settings.limit':
      'PLUMBLINE_LIMIT is the score above which the default detector says drifting, as eval --budget prints it.',
    'settings.limit.hard': 'A forbidden or contradicting step is drift at any limit.',
    'settings.detector-default': 'PLUMBLINE_DETECTOR defaults to meaning.',
    'settings.embeddings':
      'PLUMBLINE_EMBEDDINGS_URL, _KEY and _MODEL configure an endpoint that settles the uncertain band.',
  }),

  ...written('api-2', 15, {
    'user.message':
      'user_message is text of at most 4,000 characters on a step of /v1/drift, of its batch, of the sequence form of /v1/check and of check_state; another type or more characters are 400.',
    'user.effect-stated':
      'user_effect states the effect of the message instead; it is none, refines, adds or replaces, and anything else is 400.',
    'user.none':
      'Thanks, yes, go on, a question, impatience, praise or a report of status is none: it moves nothing, whatever its length and language, and only the clock of the last word of a person.',
    'user.refines':
      'A correction or constraint refines: the request it belongs to keeps standing and gains it.',
    'user.adds':
      'A further request adds: all stand, and a step that serves any of them is on the errand.',
    'user.replaces':
      'A withdrawal with another request replaces: the old request no longer stands.',
    'user.doubt':
      'In doubt between adding and replacing it adds, as it does where a text has a request in it.',
    'user.first-message':
      'A first message with content is the ground of a run that has none, and the goal of its step is measured against it; one without content is none.',
    'user.assignment':
      'assignment holds text, revision, by, at and stands of each request, in the run and in the answer to a step that the user moved.',
    'user.ground': 'The ground is the texts that stand, joined by a line break.',
    'user.revision': 'revision goes up by one at each effect but none.',
    'user.turn-without-content':
      'Under meaning, a user_turn whose words are an acknowledgement moves nothing.',
    'user.overlap':
      'Under overlap, a user_message with an effect is a user_turn with that text as ground.',
    'user.trace':
      'A step of a trace holds user_message, user_effect and revision; those of an earlier release are null.',
    'user.grounds': 'A ground of a run holds the step that brought it and its agent.',
    'user.resets-evidence': 'An effect but none resets the evidence of drift; none keeps it.',
    'user.only-message':
      'A step whose goal is the message itself states no goal of the agent: it is not drift, and a message of no effect leaves what was measured as it was.',
    'memory.assignment-bound':
      'The memory of an agent is bounded however much the user says; beyond the bound the oldest request no longer stands, and the answer shows it.',
    'memory.older':
      'A memory that an earlier release has stored goes on: its ground is the one request.',
  }),

  ...written('hosts', 16, {
    'hosts.privacy.levels':
      'What a relay sends is chosen: words without what looks like a secret; hashes, in which paths, tools and commands are keyed hashes that stay equal; or counts, without any text.',
    'hosts.doctor.seen':
      'plumbline doctor --hosts says of the last session of each host when its last event came and of how many of its acts the end was told.',
    'hosts.doctor.project':
      'plumbline doctor --hosts says so of a host that reports by the hooks of the project in the working folder.',
    'hosts.doctor.policy':
      'plumbline doctor --hosts reads the policy that an administrator has set for Claude Code on the machine, and names the file and the setting that keep hooks from running; plumbline init names them too.',
    'hosts.doctor.server':
      'plumbline doctor --hosts asks the server that hooks report to, by the relay or by themselves, and shows it no key that PLUMBLINE_BASE_URL says is of another one.',
    'hosts.relay.unknown':
      'A relay counts the events of hosts that no reader understands, by their names alone, and tells them to plumbline doctor --hosts and nobody else.',
    'hosts.watch.advice':
      'plumbline watch --server prints what the server advises, once when a run leaves its errand and only where somebody has chosen that; the agent is told by its hooks all the same.',
    'hosts.warm':
      'Once it listens, a server reads and judges a session that nobody has, in slices, so that the first hooks after a start are answered in time; nothing of it is stored.',
    'hosts.relay':
      'plumbline relay takes the hooks of hosts on loopback, answers at once, and brings the events to a server, where they are the run that they would be without it.',
    'hosts.relay.init':
      'plumbline init with a server elsewhere, or a level, sets up the relay and its key, and hosts start it; doctor --hosts shows it, and uninstall stops and removes it.',
    'hosts.relay.chosen':
      'plumbline init HOST --relay lets hooks go by the relay to a server on this machine too, until uninstall; without it plumbline init codex says that Codex tells its hooks no exit code, and what brings it.',
    'hosts.relay.level-kept':
      'plumbline init and plumbline relay without --level keep the level of before and say so; another server is told no more than it is told unless somebody chooses.',
    'hosts.relay.heeds':
      'A change of the level or the server reaches a relay that is up before its next event and its next batch.',
    'hosts.relay.withheld':
      'Events that wait are dropped when the level gets stricter or the server changes, by the relay that is up or by the next one; its log and doctor --hosts count them.',
    'hosts.relay.private':
      'With a canary in any field of any event of any host, what a relay sends, keeps and logs, and what the server stores, holds no more than the level allows.',
    'hosts.relay.told':
      'What the server wants an agent to be told is told at its next event that takes a fact, once, and never after newer words of the user; a reminder and a held command come from the relay itself.',
    'hosts.relay.away':
      'While the server is dead, hangs, answers garbage or takes no key, hosts are answered as ever, the server is left alone for longer and longer, and then gets every event once, in order.',
    'hosts.relay.batches':
      'A relay sends at most 100 events together, within 250 ms; what the server will never take does not keep back the rest.',
    'hosts.relay.spool':
      'What waits stands in files of mode 0600, of at most 20 MB: it survives a killed process and a torn line, and the oldest events are dropped and counted when it is full.',
    'hosts.relay.gone':
      'A relay whose settings are gone for a minute ends and says so; one whose spool is gone counts what waited there as dropped, says so, and begins another one.',
    'hosts.relay.local':
      'A relay listens on 127.0.0.1 alone, wants the key that init has written, and refuses other names of itself and pages of browsers.',
    'hosts.relay.endpoint':
      'POST /v1/hooks/plain takes events that were read elsewhere, as lines, and answers each; a batch that is sent again counts once.',
    'hosts.readers':
      'One pure reader per host turns its events into one normal form; it never throws, and an unknown event is none.',
    'hosts.pace':
      'npm run hosts compares sessions in rounds that take turns with healthy ones, by the shortest or by the median, and runs again what seems slow.',
    'hosts.refused':
      'A call of a tool that Claude Code has refused, by <tool_use_error>, is an act that failed, and changes no plan.',
    'hosts.who-spoke':
      'A prompt is a person’s unless the host or its text says otherwise; what the host or Plumbline put around it is taken off.',
    'hosts.private':
      'What is read of an event holds no file content and no output of a tool, and of a command no values of flags, assignments, queries of addresses or secrets.',
    'hosts.steps':
      'A step is opened by a prompt of a person, a change of the derived goal, a delegation, or the tenth act under one goal.',
    'hosts.goal':
      'The goal of a step is the plan item in work, the stated intent, what the agent has just said, its description of the act, or the act, in this order.',
    'hosts.agents':
      'A sub-agent has its task as its ground, and the agent that started it as its parent.',
    'hosts.agents.parent-goal':
      'A step of a sub-agent has as its parent goal what the agent above it is at: the item of its plan in work, its intent, or its goal.',
    'hosts.once':
      'An event of one id counts once, by whichever hook it comes, and is answered as before if it comes again.',
    'hosts.bounded': 'What is kept of a session is bounded.',
    'hosts.evidence':
      'A stall or a loop is seen in what was done: an error that repeats, tests that fail alike, edits that are taken back, acts that repeat, a long time without a change; and that hardly any act belongs to the errand.',
    'hosts.evidence.grammar':
      'GET /v1/grammar holds the kinds of evidence, the reason that each gives, and their limits, as evidence/1.',
    'hosts.evidence.quiet':
      'Polling, files that move through new texts, and errors of networks and rate limits are never evidence.',
    'hosts.evidence.verdict':
      'Under the default detector a stall or loop of a session comes from its acts, never from distances; why says the numbers, and the trace holds the evidence and the acts.',
    'hosts.coverage':
      'A run says which share of the acts its errand explains, by words, folders, and checks and commits after an explained edit; unknown below eight acts.',
    'hosts.seen':
      'A run of a host says in seen how many acts began and of how many it is known how they ended (a call that is announced and never told counts as begun), how many sub-agents started and stopped, and how many prompts were received and stand in the session file.',
    'hosts.silent':
      'A run of a host whose session goes on and of which nothing was heard for ten minutes has silent, with since when, in the list and alone; not one whose session has ended, and not one with an outcome.',
    'hosts.words':
      'coverage of a run says which words are told: all, those of acts as hashes, or none of a person.',
    'hosts.clock':
      'A person is last seen at a prompt, an answer, or a permission that the agent waited for.',
    'hosts.clock.person':
      'A label of a step of a run, a decision on an escalation of it, and a look at it are a person who is there: last_person_at moves.',
    'hosts.clock.step':
      'A step of a trace says in unattended_ms how long no person had been there.',
    'hosts.clock.look':
      'POST /v1/drift/look says that a person looks at a run; without such a run it is 404 no_run. The dashboard sends it while the run is on the screen.',
    'alerts.unattended':
      'With unattended a step at which no person was there for so many minutes and acts sends an event of that reason, above every floor and outside of incidents.',
    'alerts.unattended.once':
      'There is one such event until a person was there; then both numbers begin anew.',
    'alerts.unattended.off':
      'Without unattended there is no such event. Its numbers are read leniently, and without a minute it is left out.',
    'hosts.clock.bands':
      'GET /v1/drift/clock counts the steps of the 100 most recent runs under 1, 5 and 30 minutes and beyond since a person was last there, and tells the share that drifted of a band with 20 steps or more; a run says attended: never if a program started its session.',
    'hosts.clock.never':
      'A session in which nobody can speak is attended never: by the source of its prompt, by the environment that Claude Code gives its hooks, by the client that Codex names in its notices, or by the session file.',
    'hosts.list': 'GET /v1/drift/runs?host= lists the runs that the hooks of a host show.',
    'hosts.transcripts':
      'The session files of Claude Code, Codex, Copilot CLI, Gemini CLI, Qwen Code and opencode are read into the same events as their hooks, with the same ids where both have one; a line that is not known is no event.',
    'hosts.backtest':
      'plumbline backtest --from HOST judges a person’s own session files offline: sessions, steps, coverage, alarms per 1,000 steps with an interval, each alarm with errand, goal, reason and acts; as text, JSON or one page.',
    'hosts.backtest.budget':
      'plumbline backtest --budget N, also as N/1000, finds the limit that keeps to N alarms of 1,000 steps, and says how many alarms it adds and removes.',
    'hosts.backtest.store':
      'plumbline backtest --from store reads the runs of an account in the configured database, changes nothing in it and lets its server go on, and gives the report of session files: by the verdicts of the server, or judged anew.',
    'hosts.backtest.label':
      'plumbline backtest --label asks a person at a terminal about each alarm without a label, one key each. Answers on stored runs are labels of the account; those on session files stay in a file of the user, and later back-tests count both, with the Wilson interval.',
    'hosts.watch':
      'plumbline watch HOST prints each step of a session as the agent works, from its session file, and changes no settings.',
    'hosts.who-spoke.settled':
      'A prompt of which a hook does not say who spoke it stands as by unknown. When a session file says that a person did, it is the user’s; when none did, what stood before it stands again for later steps, as a revision of its own, and the run shows the prompt as by machine. Other words of a machine under the id of a prompt, as Claude Code tells that a sub-agent has ended, say nothing of it.',
    'hosts.relay.settles':
      'The relay reads the end of a session file when no hook has come for two seconds, for who spoke a prompt, how an act ended and which prompts no hook told, and nothing else; a sub-agent has a file of its own.',
    'hosts.ends':
      'An act of which a hook does not say how it ended is completed by whoever tells the same act with its end: it counts once, where it happened, as evidence too, and a command that the host has read as a search or a look is told as one.',
    'hosts.unknown-events':
      'The server counts the events of a host that no reader understands, by their names alone and at most 20 names of a host. GET /v1/hooks and plumbline doctor --hosts show them.',
    'hosts.watch.server':
      'plumbline watch HOST --server reports what the session files of a host say to a server on this machine, or by the relay to one elsewhere; beside the hooks of the host nothing counts twice, and what the server has not taken is read again.',
    'keys.scope':
      'Keys have scopes: full (all), and hooks, which may report events of hooks and reads nothing; POST /v1/me/keys takes scope and label, and lists hold the label of each key.',
    'hosts.mode':
      'Hooks are answered by mode, of the account or of a run: observe (default) tells the agent nothing; advise tells it a fact once when its run has left the errand, and again after ten steps, in Codex and Gemini CLI also when a session goes on; gate also holds commands that cannot be undone while it has.',
    'hosts.init.files':
      'plumbline init opencode writes a plugin, and plumbline init cline a program for each event, never in the place of a file of others.',
    'hosts.init.offer': 'plumbline init without a host says which hosts are on the machine.',
    'telemetry.private':
      'Of an export nothing is kept of contents, outputs, values of commands and who the user is, and nothing of it stands in the log.',
    'telemetry.endpoint':
      'POST /v1/traces and /v1/logs, and the same under /v1/otlp, take OTLP as JSON or protocol buffers, gzipped too, up to 4 MiB, and what they show becomes steps; /v1/metrics answers 200 and stores nothing.',
    'telemetry.refusal':
      'A refusal to an exporter is a google.rpc.Status with code and message, in the encoding of the request; an unknown content-encoding is 415 and says what to send.',
    'telemetry.protobuf':
      'Protocol buffers of OTLP are read as their JSON, those of OpenTelemetry’s own exporters too, and no bytes make the reader throw.',
    'telemetry.spans':
      'Spans by the conventions for generative AI, OpenInference and the AI SDK become prompts, words, acts, and sub-agents with tasks of their own.',
    'telemetry.conventions.langsmith':
      'What LangSmith exports of LangGraph is one run for each thread_id: the words of the user, turns, calls of tools as acts, tokens, and what works inside a call of a tool as a sub-agent with its own task.',
    'telemetry.conventions.openllmetry':
      'What OpenLLMetry exports of LangGraph and of the OpenAI Agents SDK is one run for each conversation or association property, with the same parts; two spans of one agent are no sub-agent.',
    'telemetry.conventions.openinference':
      'What OpenInference exports of LangGraph and of the OpenAI Agents SDK is one run for each session.id, with the same parts; a node of a graph that repeats the first words is no turn.',
    'telemetry.conventions.logfire':
      'What Logfire exports of the OpenAI Agents SDK is one run for each group_id, with the same parts; an agent that takes over by a handoff goes on with the same errand.',
    'telemetry.conventions.semantic':
      'What OpenTelemetry’s own instrumentation exports of the OpenAI Agents SDK is one run for each conversation, with the same parts, though it gives all agents one id.',
    'telemetry.partial':
      'A trace that is judged before the spans around a sub-agent have arrived leaves its errand as it was: the task of the sub-agent counts as words of an unknown speaker, and as nobody’s once the call that handed it over has arrived.',
    'telemetry.rejected':
      'An answer counts the spans or log records that cannot be read in partialSuccess and says where each stands and what is wrong, as JSON and as protocol buffers; the others are taken. Records of other things than agents are not counted, and without any the answer is empty.',
    'telemetry.reported':
      'The attributes plumbline.goal, .ground, .plan, .progress, .distance, .user_turn and .agent_id of a span or a log record mean what the fields of POST /v1/drift mean and win over what is derived; a goal alone opens a step of the conversation or the trace.',
    'telemetry.reported.faults':
      'A span or a log record in which such an attribute has no valid value is rejected, and the answer names the attribute and what to send.',
    'telemetry.agents':
      'The log records of Codex tell the task of a sub-agent, and those of Gemini CLI its beginning and end.',
    'telemetry.tokens':
      'The tokens of the calls of a model, as spans or the logs of hosts tell them, count with the next step of their agent; of the two, those that came first in the session count.',
    'telemetry.host-spans':
      'The spans of Claude Code are its prompts, calls of tools with their outcome, and permissions that a person gave; those of Gemini CLI its prompts, words, calls and sub-agents. Codex’s spans are internal and left out.',
    'telemetry.who-spoke':
      'A prompt that only the telemetry of Claude Code tells is by unknown, unless its text says that nobody typed it or a call of the model says that a program handed it over. What a hook knew of its speaker stays.',
    'telemetry.buffer':
      'Spans are durable before the answer, and are folded in the order of their times 5 seconds after the last span of their trace, at the latest 30 after the first.',
    'telemetry.once':
      'A prompt or a call of a tool that hooks, log records and spans tell counts once.',
    'telemetry.bound':
      'At most 10,000 spans of an account wait, and an export that would pass them is refused with retry-after, or with 413 if it alone has more; spans of traces without an agent are not kept.',
    'telemetry.quota':
      'A step that spans show counts as one write; an account beyond its quota is refused, and what was taken before is judged.',
    'telemetry.logs':
      'The log records of Claude Code, Codex and Gemini CLI become the events of their hooks.',
    'results.change':
      'With PLUMBLINE_OTLP_URL each step that changes the label of its agent (on_errand, uncertain, drifting, stalled, oscillating) is told to that collector as one log record; an agent begins on its errand.',
    'results.all': 'PLUMBLINE_OTLP_ALL=true tells every step, many of them in one request.',
    'results.attributes':
      'A result is the event gen_ai.evaluation.result with the name plumbline.drift, the probability of drift as score, the label, an explanation, the conversation, and run, step, reason, phi, detector and revision.',
    'results.private':
      'A result holds no word of the errand or the goal; its explanation is fixed words and numbers.',
    'results.text':
      'PLUMBLINE_OTLP_TEXT=true adds ground and goal, and explains with the words of the verdict.',
    'results.span':
      'A result of a step that a span or a log record showed has the ids of that span, and gen_ai.response.id if the span names an answer of a model.',
    'results.error': 'A step that cannot be judged is told with error.type.',
    'results.durable':
      'A result is durable with its step, waits while the collector fails or asks for time, survives a restart, and is sent once by all nodes together.',
    'results.refused':
      'A result that the collector refuses, or that has waited for a day, is given up, logged, counted and kept for a month, at most as long as its run.',
    'results.secret': 'The headers of the collector stand in no log.',
    'results.doctor':
      'plumbline doctor says whether results go to a collector, and how many wait or were given up.',
    'settings.otlp':
      'PLUMBLINE_OTLP_URL, PLUMBLINE_OTLP_HEADERS, PLUMBLINE_OTLP_ALL and PLUMBLINE_OTLP_TEXT configure the collector of results; a fault names the setting and no value of a header.',
    'client.user-message':
      'run.userMessage hands the words of the user over, and the service reads what they do.',
    'client.notice':
      'A client whose key or address is wrong says so once on standard error where nobody listens to onError.',
    'python.run':
      'A run of the Python client gets its verdicts, hands over the words of the user, has sub-agents and an outcome; every other route raises PlumblineError.',
    'python.delivery':
      'The Python client delivers in the background, in order and once; an outage costs the agent one wait.',
    'python.harmless':
      'The Python client never raises into the agent; a wrong key is said once on standard error where nobody listens.',
    'python.bounded':
      'The Python client keeps at most a thousand steps, and the words of the user longest.',
    'python.async': 'The Python client serves asyncio.',
    'hosts.endpoint':
      'POST /v1/hooks/{host}[/{event}] takes the host’s JSON as it is and answers 200 with a JSON object that the host accepts, whatever is wrong.',
    'hosts.quota':
      'A step that a hook opens counts as one write of the account, an event without a step as none; beyond the quota no step is stored.',
    'hosts.durable': 'What makes a step is durable before the answer.',
    'hosts.acts-soon':
      'An act of a hook that opens no step is answered at once and stored within 50 milliseconds, by every node and once; a server that stops stores it first, and a run that is deleted takes it along.',
    'hosts.acts-lost':
      'A server that stops while its database is away logs how many answered acts are lost; acts that the quota refuses are logged as no fault.',
    'hosts.note': 'What was wrong with an event stands in x-plumbline-note.',
    'hosts.remind':
      'After a compaction the ground and the open items of the plan are told again, for the hosts that take it.',
    'hosts.init':
      'plumbline init HOST puts the hooks of Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, Cursor or VS Code after those of others into the user’s settings, keeps the rest, the mode and a copy, and says whether the server answered.',
    'hosts.init.comments':
      'plumbline init keeps the comments of settings where the host has them (Gemini CLI, Qwen Code, Copilot CLI, Cursor, VS Code), and so does uninstall; where the host takes none, such a file is refused.',
    'hosts.answered':
      'GET /v1/hooks says how long the hooks of each host waited for their newest answers, and plumbline doctor --hosts prints it.',
    'hosts.encoder-wait': 'A step of a hook waits for the encoder for at most 200 milliseconds.',
    'hosts.encoder-late':
      'A step that the encoder reads too late for its hook is stored, and judged when its texts are read: its verdict is the one that it has when the encoder is in time. After a minute the words alone judge it.',
    'hosts.init.project':
      'plumbline init HOST --project puts the hooks into the settings of the project, without a key; they report for whoever has run plumbline init on their machine and do nothing for others, and plumbline uninstall HOST --project gives back every byte.',
    'hosts.init.project.folders':
      'plumbline uninstall removes the folders that plumbline init has made and that are empty then, in a project and in the home of the user, and none that was there before.',
    'hosts.init.otel':
      'plumbline init HOST --otel prints how the host exports its telemetry to a server of this machine, and names the key by its variable.',
    'hosts.init.twice':
      'plumbline init twice is plumbline init once, and the hooks of an earlier time are replaced.',
    'hosts.init.private':
      'The key stands in a file that only the user may read, in no process list and in no settings of a host.',
    'hosts.sampling':
      'Of more than 200 acts a minute in a run every k-th is read; prompts, plans, delegations, failures and waits always are; coverage counts the acts that were passed over and says k.',
    'hosts.plugins':
      'The plugins in plugin/, which the marketplace at the root of the repository lists for Claude Code, have the hooks that plumbline init writes, hold no key, and do nothing on a machine where plumbline init has not run; plumbline init HOST --plugin writes only what they need.',
    'hosts.uninstall':
      'plumbline uninstall HOST takes out exactly those hooks; a file that has not changed since becomes byte for byte what it was, one that init made goes with the folders that it made and that are then empty, and the program goes with the last host.',
    'hosts.shim.no-curl':
      'Where there is no curl, plumbline init says so and hooks ask by a Node program with the same limits; doctor --hosts says which of the two asks.',
    'hosts.plugin.opencode':
      'The plugin of opencode leaves a server alone for 30 seconds that twice in a row did not answer in time; one late answer changes nothing.',
    'hosts.shim':
      'The program that hosts run prints a JSON object and exits with 0, whatever the server does; one that does not answer in time is left alone for 30 seconds.',
  }),

  ...written('interface', 17, {
    'session.read':
      'GET /v1/session answers whether a browser or key is signed in, as whom, its csrf, and how to sign in; it needs no credential.',
    'session.sign-in':
      'POST /v1/session signs a browser in with a key of the scope full, and its session takes the place of the key on keyed routes.',
    'session.sign-in.refused':
      'A key that is unknown signs nobody in (401 with a detail), and neither does one that only reports events (403).',
    'session.cookie':
      'The cookie of a session is HttpOnly, SameSite=Lax, for all paths, Secure and __Host-plumbline over HTTPS, plumbline_session over plain HTTP, and new each time.',
    'session.sign-out': 'DELETE /v1/session ends the session at once, on every node.',
    'session.expiry': 'A session ends after 7 days without use, and after 30 days.',
    'session.key':
      'A session ends with the key that made it, save that the one that replaces its key goes over to the new one.',
    'session.erased': 'The sessions of an erased account end at once, and their rows are erased.',
    'session.limit': 'An account has at most 50 sessions; one more ends the oldest.',
    'session.stored': 'A session is a random number of 256 bits, stored as a hash, and in no log.',
    'session.replay':
      'An answer with a secret that a session got is stored sealed, and replayed to that session alone.',
    'session.csrf':
      'A session changes something only with its x-plumbline-csrf and from its own origin; everything else is 403 csrf.',
    'session.key-first': 'A key in the request goes before the cookie.',
    'local-link.once':
      'GET /auth/local?token= signs the person at this machine in once and leads to /app; a link that is unknown, used or over leads to /signin?error=expired.',
    'local-link.whole':
      'A fault while a link is followed leaves the link as it was, and one at the end of a sign-in leaves no account.',
    'local-link.expiry': 'The link is good for 15 minutes.',
    'local-link.loopback':
      'The link works from a loopback address and under a loopback host alone, and not through a proxy; everything else is 403.',
    'keys.issued': 'Free keys are issued to an identity-provider account through the product page.',
    'sign-in.first':
      'The first sign-in of a person, known by issuer and subject, makes one account of the tier ground and leads to /welcome.',
    'sign-in.first-key':
      'POST /v1/session/first-key shows the first key of such an account once, and is 409 already_shown afterwards and for every other account.',
    'sign-in.again':
      'A later sign-in leads to the account and the page that was asked for, or to /welcome while the first key was not shown.',
    'sign-in.email':
      'An account gets the mail address of its person, confirmed, if the provider confirms it.',
    'sign-in.erased': 'A person whose account was erased gets a new one.',
    'sign-in.protocol':
      'A sign-in uses the code flow with PKCE (S256), state and nonce, and one whose nonce, verifier, code or issuer is another is refused.',
    'sign-in.bound':
      'A sign-in in flight is sealed in an HttpOnly cookie of its browser for ten minutes; without it, later, or forged it is expired. No node need know it.',
    'sign-in.state': 'An answer with another state, without one or with two leads to error=state.',
    'sign-in.replay': 'An answer whose code was used before signs nobody in.',
    'sign-in.denied':
      'A person who declines is led to error=denied, and any other refusal of the provider to error=provider.',
    'sign-in.provider-down':
      'While the provider is down a sign-in leads to error=provider, and the rest of the server works; it is asked again at the next sign-in.',
    'sign-in.provider-hostile':
      'An answer of the provider is read up to a megabyte, no redirect of it is followed, and one that is not valid leads to error=provider.',
    'sign-in.landing': 'to is a path of this server; everything else is /app.',
    'sign-in.private': 'State, code, flow, session and client secret are in no row and no log.',
    'sign-in.base': 'A sign-in begins at the base address, to which the provider leads back.',
    'sign-in.unconfigured':
      'Without a provider /auth/start and /auth/callback are 501 not_configured.',
    'upgrade.link': '/v1/upgrade answers a payment-checkout link for a paid tier.',
    'upgrade.402':
      'The upgrade of a 402 leads to /v1/upgrade with a payment provider, or to the configured address.',
    'upgrade.browser':
      'A browser that opens /v1/upgrade is led to the page, and without a session to the sign-in.',
    'upgrade.refused':
      'A tier that is not sold is 400 on /v1/upgrade, and one that is not above the account’s is 409.',
    'upgrade.rate':
      'The payment provider is asked for at most 10 pages a minute for an account; a further /v1/upgrade is 429.',
    'upgrade.provider-down': 'While the payment provider fails /v1/upgrade is 503 unavailable.',
    'upgrade.customer':
      'An account that pays is led to the page of its subscription, not to a second one.',
    'upgrade.moves':
      'A checkout that is paid, a change and the end of a subscription move the tier to the highest one that is paid for, or to ground.',
    'upgrade.forged':
      'An event whose signature is missing, wrong or older than 5 minutes is 400, and one about something else is taken and ignored.',
    'upgrade.once': 'An event counts once by its id, also if it comes several times at once.',
    'upgrade.order':
      'An event that is older than the last one of its subscription changes nothing, and an ended subscription does not come back.',
    'upgrade.operator': 'No event lowers a tier that the operator has given.',
    'upgrade.erase':
      'An account whose subscription goes on is not erased (409) by its own key; one that ends by itself is no obstacle.',
    'upgrade.erase-operator':
      'The operator erases an account whose subscription goes on; the answer and the log name the subscription.',
    'session.operations-only':
      'The cookie counts for no tool, no hook, no export of telemetry and no administration.',
  }),

  ...written('design', 17, {
    'web.run':
      'A run is a sentence, its facts, and a line from which each step hangs at its distance; a step says why, how sure it is, and its evidence against the limit.',
    'web.run.moved':
      'The row of a ground that moved says who moved it as far as that is known: the user, a program, unknown, or that it stands again.',
    'web.run.told': 'The panel of a step says whether an alert of it was sent and arrived.',
    'web.silent':
      'The list and the page of a run say “silent since” and the time in the place of “on the errand” once nothing was heard of its session for ten minutes, also while they stay open, and take it back when it is heard again.',
    'web.seen':
      'A run and the quality page say how much was seen, “93 % of 214 acts”, beside each rate; the quality page claims no precision of what was hardly seen.',
    'web.run.facts':
      'A run says how many of its steps are uncertain, and that all drift is in one sub-agent where it is.',
    'web.runs.wall': 'The wall marks a run whose goal names another name than its errand.',
    'web.runs':
      'The list shows what needs a look above what is on its errand, with the course of each run; filters and search stand in the address.',
    'web.runs.found':
      'A filter or search looks through the whole list, also of 10,000 runs, before it says that nothing is there; each filter has its count.',
    'web.runs.phone': 'The list holds only the rows near what is seen, on a phone too.',
    'web.runs.still':
      'No row of the list moves while steps come, also with 10,000 runs; what changed place is counted, and shown on request.',
    'web.live': 'An open page takes in steps as they come, on both databases.',
    'web.live.views': 'Cost, quality and fleet change by themselves while agents work.',
    'web.live.nodes': 'An open page of one node takes in what another node has taken.',
    'web.live.lost':
      'A page that is not live says since when, and when it tries again; it may be tried at once.',
    'web.keys':
      'J K, D and shift-D, [ ], Home and End move in a run, Y and N label, O sets the outcome, / searches, ? lists the keys, and G with R, E, A or Q changes the page.',
    'web.text':
      'Text of an agent is shown as text: markup, bidirectional overrides, very long words.',
    'web.text.turned':
      'A bidirectional override in a text of somebody else, ids and labels too, turns no word of the page around.',
    'web.access':
      'No view has a serious barrier, in both themes; 320 pixels hold every view without scrolling sideways.',
    'web.long': 'Of a run of 10,000 steps the browser holds the rows that are seen.',
    'web.onboarding':
      'Without a run the list says how an agent reports, and replays a recorded run on request.',
    'web.signed-out': 'Without a session the dashboard leads to the page that signs in, and back.',
    'web.built':
      'npm start builds the pages where they are missing or older than their sources, says so, and otherwise does not.',
    'web.packed': 'The published package holds the pages, built and compressed.',
    'web.files':
      'The pages are served from memory, compressed, with names that change with their content.',
    'web.sign-in':
      'A key signs a person in, who lands where they wanted to go; an unknown key and a dropped sign-in are said, and signing out ends the session.',
    'web.sign-in.provider':
      'In a browser, single sign-on makes an account, and later leads to the page that was asked for.',
    'web.sign-in.key-once':
      'The page after the first sign-in shows the key this once, and leads on when the person says that it is safe.',
    'web.sign-in.failed':
      'A sign-in with a wrong state, too late, declined, replayed, or while the provider is down signs nobody in; the page says so, and the next one works.',
    'web.sign-in.expired':
      'In a browser that a provider has signed in, an expired session leads to the sign-in with the next change and the next page, and from there back.',
    'web.sign-in.landing': 'No address leads a browser from the sign-in to another host.',
    'web.sign-in.local-link': 'The link of the first start opens the dashboard in a browser, once.',
    'web.first-run':
      'Whom a link of this machine leads to an account without runs sees the run of plumbline demo come, drift, and say why.',
    'web.upgrade': 'What a tier lacks leads to the tiers, and from there to the checkout.',
    'web.escalations':
      'An escalation is decided by the keyboard alone with a note; a second tab shows the decision by itself, and a later decision is answered with who was first.',
    'web.escalations.streak':
      'The question of a run that drifts says for how many steps it has drifted now, not how many have drifted in all.',
    'web.alerts':
      'An alert is set, tested with its outcome and what was sent, and seen delivered; a refused address is said at its field, and a tier without alerts sees which tier has them.',
    'web.keys-view':
      'A key is made, rotated with a time for the old one, and revoked after a question; each key is shown once.',
    'web.settings':
      'Settings keep digest, hooks, colours and single keys; the account is erased only after its id is typed, and the page says what was erased.',
    'web.settings.digest':
      'Settings show what the chosen digest would say before anything is sent.',
    'web.settings.privacy':
      'Settings say what is kept of a run and for how many days, who sees it, and how a host tells less.',
    'web.quality':
      'Quality shows the precision of the alarms with its interval once ten are labelled, and the alarms without a label, which L, Y and N label by the keyboard.',
    'web.quality.reliability':
      'Quality draws what was said against what people say, once there is a label, and says how many there are.',
    'web.cost': 'Cost shows the tokens of the runs and those spent while drifting.',
    'web.fleet':
      'The fleet shows members and collisions; an invite code is shown once, gives a seat, and a member is removed after a question.',
    'web.field': 'The field is drawn as weather and takes eight words of its vocabulary.',
    'web.views-text': 'Text of agents is shown as text in every view.',
    'web.views-access':
      'No view has a serious barrier in either theme, and none is wider than a screen of 320 pixels.',
    'web.zoom':
      'At 200 % zoom no view is wider than the window, what can be pressed is reached and not covered, and a run shows five rows or more.',
    'web.framed': 'A browser shows no page of this server in a frame of another one.',
    'web.nowhere':
      'An address of the dashboard that is none of its views says that there is no such page.',
    'web.forced': 'In forced colours a line marks what is selected, where one is, and each chip.',
    'web.policy':
      'A strict Content-Security-Policy holds on every page, framing is refused, and no request leaves the server.',
  }),

  ...written('api-2', 17, {
    'stream.events':
      'GET /v1/stream tells step, run, incident, escalation and delivery as server-sent events, each as its own route shows it, in the order in which they became durable.',
    'stream.every-node': 'A stream also tells what another node took.',
    'stream.run': 'run_id narrows a stream to one run.',
    'stream.own':
      'A stream needs a key, tells nothing of other accounts, and ends soon after its key is revoked.',
    'stream.resume':
      'last-event-id goes on behind an event of the last hour on any node, without loss or repetition; an older one, or one that is no id, begins with a gap.',
    'stream.none-lost':
      'Nothing that changes after a stream is open is missing from it, in whatever order transactions begin and commit.',
    'stream.comment': 'A listener without events gets a comment every 15 seconds.',
    'stream.bounded':
      'A slow listener is cut off with a gap; an account has at most 1,000 listeners on a node, and a further one gets 429.',
    'stream.unreadable':
      'What the server cannot read of an account is a gap in the streams of that account, which go on, and stops no other stream.',
    'stream.unheard':
      'Nothing is recorded for an account to which nobody has listened lately, and what is recorded is deleted.',
    'client.stream':
      'client.stream() tells the events of a stream, and connects again behind the last one.',
    'client.stream.lost':
      'client.stream() tells each break with the time until it connects again: a second at first, twice as long each time that fails, 30 seconds at most.',
    'labels.add':
      'POST /v1/drift/label records what a person says of a step, and a trace and a stream show it.',
    'labels.newest':
      'The newest label of a step or of its drift counts, and the history is kept until the run is deleted.',
    'labels.refused':
      'missed is for a step that does not drift, unclear for any, the others for one that drifts; a label that does not fit is 400, and a step that is not there 404.',
    'labels.incident': 'A label can name an incident: the step with which it began.',
    'labels.export':
      'GET /v1/drift/labels lists the labelled steps as JSON lines that plumbline eval reads; redirected and unclear ones say neither and are left out.',
    'quality.read':
      'GET /v1/quality counts alarms, labels and useful ones by reason, detector and host, with precision and alarms per 1,000 steps, each with a 95 % interval, and missed steps.',
    'quality.old-steps':
      'Steps of an earlier release count as alarms where a drift of their agent began.',
    'quality.few': 'Below ten labelled alarms there is no precision.',
    'quality.seen':
      'Where less than 80 % of at least eight acts of the runs were seen to their end, no precision is told: known is false, withheld says little_seen, and seen says the share.',
    'quality.reliability':
      'GET /v1/quality holds reliability: by tenths of the stated probability of drift the number of labelled drifting steps, the mean of what was said, and the share that had left the errand with its 95 % interval.',
    'quality.published':
      'GET /v1/quality holds the figures of model/README.md with the command that prints them.',
    'budget.set':
      'PUT /v1/budget takes { per_1000_steps }, { per_day } or null, and GET shows it; anything else is 400.',
    'budget.held':
      'An alarm beyond the budget is not sent; it stands in the trace, in the alert log, in the count of GET /v1/budget and in the digest, and decides for all of its drift.',
    'budget.never-held': 'A budget never holds an escalation back.',
    'budget.start':
      'A budget begins at the quantile of the account’s own past scores; with too few the detector’s own limit decides.',
    'budget.days':
      'A budget of a day is spread over the steps of the days before; the day on which it is set counts once, when it is over.',
    'budget.follows':
      'The threshold tracks the quantile: whatever the scores, the share of T steps that passes it is the rate within (1 + 0.05) / (0.05 · T).',
    'budget.cap': 'Alarms never exceed the burst and the rate together, at any time.',
    'budget.rule':
      'An alarm is sent where the verdict drifts, its score is above the threshold and the bucket has a token.',
    'stream.stop': 'A node that stops ends its streams at once.',
  }),

  ...written('api', 17, {
    'run.read.after':
      'GET /v1/drift/run takes after, the number of the step behind which the trace begins; a cursor takes its place, and what is no such number is 400.',
    'keys.sign-in': 'Keys come from signing in with OpenID Connect on the product page.',
    'upgrade.answer':
      'GET /v1/upgrade?tier= answers url and tier: a checkout link of the provider or the configured address.',
    'upgrade.unknown-tier': 'An unknown tier on /v1/upgrade is 400.',
    'upgrade.unconfigured':
      '/v1/upgrade is 501 not_configured when neither provider nor address is set.',
    'upgrade.not-metered': '/v1/upgrade is not metered.',
    'upgrade.webhook': 'The signed webhook of the provider moves the tier.',
  }),

  ...written('configuration', 17, {
    'command.start-page': 'On the first start the address of the product page is printed.',
    'command.start-link':
      'The first start prints a link that signs the person at this machine in once.',
    'settings.payment':
      'PLUMBLINE_STRIPE_KEY, _WEBHOOK_SECRET and _PRICES, or PLUMBLINE_UPGRADE_URL, configure payment.',
    'settings.oidc':
      'PLUMBLINE_OIDC_ISSUER, _CLIENT_ID and _CLIENT_SECRET configure the identity provider.',
    'command.signin':
      'plumbline signin prints a fresh link of an account, also while the server runs.',
  }),

  ...written('design', 17, {
    'page.product':
      'The page at / shows a recorded run with its real verdicts, the errand and the figures without JavaScript, and without a request to another origin.',
    'page.try':
      'The try-it asks POST /v1/check 300 ms after the last change and shows the verdict.',
    'page.try.allowance':
      'The checks of a page of this server are counted apart, up to 20,000 a day and address; every other call of /v1/check has the allowance of all.',
    'page.figures':
      'The figures of the product page are those of model/README.md and docs/detector.md.',
    'page.recorded': 'The recorded runs of the pages are what the service answers.',
    'page.docs':
      'Each page of the docs is static HTML with its plain text beside it at .md, and every link between pages leads somewhere.',
    'page.docs.search': 'The docs can be searched from the page; the key / leads there.',
    'page.api':
      'The page /docs/api shows the description of this server and asks no other origin for anything.',
    'page.llms': '/llms.txt lists the pages of the docs as plain text.',
    'page.policy':
      'Every page carries a content security policy without inline scripts, is framed by nobody, and is not stored without being asked for again. The policy allows no inline styles but those of Redoc on /docs/api.',
    'page.accessible':
      'axe-core finds nothing serious on a page in either theme, and none is wider than 320 px. Of /docs/api it looks at the first three blocks of Redoc.',
  }),
}

/** Requirements that share a source and an issue. */
function written<Id extends string>(
  from: Requirement['from'],
  issue: Requirement['issue'],
  sentences: Record<Id, string>,
): Record<Id, Requirement> {
  const rows = Object.entries<string>(sentences).map(([id, says]) => [
    id,
    { id, from, says, issue },
  ])
  return Object.fromEntries(rows)
}
