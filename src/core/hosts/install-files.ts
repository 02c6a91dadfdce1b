/** The hosts that are told to report by files of their own, which hold nothing else. */
export const fileHosts = ['opencode', 'cline'] as const

export type FileHost = (typeof fileHosts)[number]

/** A file that a host reads. */
export interface HookFile {
  /** Below the home of the user. */
  name: string
  text: string
  isProgram: boolean
}

/** The line by which a file of ours is known. */
export const ownMark = 'Written by plumbline init'

/**
 * The files that make a host report. `folder` holds the program that hosts run, and `plugin` is the text of the plugin of
 * opencode.
 */
export function hookFilesOf(host: FileHost, folder: string, plugin: string): HookFile[] {
  return host === 'opencode'
    ? [{ name: '.config/opencode/plugin/plumbline.js', text: plugin, isProgram: false }]
    : clineEvents.map((event) => scriptOf(event, folder))
}

const clineEvents = [
  'TaskStart',
  'TaskResume',
  'TaskCancel',
  'TaskComplete',
  'UserPromptSubmit',
  'PostToolUse',
  'PreCompact',
]

function scriptOf(event: string, folder: string): HookFile {
  const shim = `${folder}/hook`.replace(/'/g, `'\\''`)
  return {
    name: `.cline/hooks/${event}`,
    text: `#!/bin/sh\n# ${ownMark} cline; plumbline uninstall cline removes it.\nexec '${shim}' cline ${event}\n`,
    isProgram: true,
  }
}
