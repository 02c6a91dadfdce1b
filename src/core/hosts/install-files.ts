import { anyShim } from './install.ts'

/** The hosts that are told to report by files of their own, which hold nothing else. */
export const fileHosts = ['opencode', 'cline'] as const

export type FileHost = (typeof fileHosts)[number]

/** A file that a host reads. */
export interface HookFile {
  /** Below the home of the user, or below the project. */
  name: string
  text: string
  isProgram: boolean
}

/** The line by which a file of ours is known. */
export const ownMark = 'Written by plumbline init'

/**
 * The files that make a host report. `folder` holds the program that hosts run; it is null if they are for a project, where
 * each user has a program of their own. `plugin` is the text of the plugin of opencode.
 */
export function hookFilesOf(host: FileHost, folder: string | null, plugin: string): HookFile[] {
  if (host === 'cline') return clineEvents.map((event) => scriptOf(event, folder))
  const place = folder === null ? '.opencode' : '.config/opencode'
  return [{ name: `${place}/plugin/plumbline.js`, text: plugin, isProgram: false }]
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

function scriptOf(event: string, folder: string | null): HookFile {
  const runs =
    folder === null ? `exec ${anyShim}` : `exec '${`${folder}/hook`.replace(/'/g, `'\\''`)}'`
  const undo = `plumbline uninstall cline${folder === null ? ' --project' : ''} removes it`
  return {
    name: `${folder === null ? '.clinerules' : '.cline'}/hooks/${event}`,
    text: `#!/bin/sh\n# ${ownMark} cline; ${undo}.\n${runs} cline ${event}\n`,
    isProgram: true,
  }
}
