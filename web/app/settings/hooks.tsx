import { api } from '../api.ts'
import { ActionFault, Choice, Section, Switch, useAction } from '../controls.tsx'
import { Shown, useResource } from '../resource.tsx'

type Hooks = Awaited<ReturnType<typeof api.hooks>>['hooks']

const modes: Record<Hooks['mode'], string> = {
  observe: 'The agent is told nothing. Its steps are judged and stored.',
  advise: 'The agent is told a fact when it has left its errand. Nothing is held up.',
  gate: 'As advise, and commands that cannot be undone are held while it has left its errand.',
}

/** How the hooks of hosts are answered. */
export function HookSettings() {
  const read = useResource(() => api.hooks())
  const saving = useAction()
  async function change(changes: { mode?: Hooks['mode']; remind?: boolean }) {
    if ((await saving.run(() => api.setHooks(changes))) !== null) await read.read()
  }
  return (
    <Section
      title="Hooks of hosts"
      says="What an agent hears through Claude Code, Codex and the other hosts that report by hooks."
      id="hooks"
    >
      <Shown of={read} thing="settings of the hooks">
        {({ hooks }) => (
          <>
            <Choice
              label="Mode"
              value={hooks.mode}
              options={Object.keys(modes).map((mode) => [mode, mode] as const)}
              onChoose={(mode) => void change({ mode: mode as Hooks['mode'] })}
            />
            <p class="hint">{modes[hooks.mode]}</p>
            <div class="switch-line">
              <Switch
                label="Tell the errand again after a compaction"
                isOn={hooks.remind}
                onChange={(remind) => void change({ remind })}
              />
              <span aria-hidden="true">Tell the errand again after a compaction</span>
            </div>
            <p role="status" class="saved">
              {saving.answer.value === null ? '' : 'Saved.'}
            </p>
            <ActionFault of={saving} />
          </>
        )}
      </Shown>
    </Section>
  )
}
