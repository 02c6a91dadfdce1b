import { join } from 'node:path'
import type { CliSettings, CliWorld } from './command.ts'
import { settingsFault, usageFault } from './usage-fault.ts'

/** The folder of the user, or a usage fault. */
export function homeOf(environment: CliWorld['environment']): string {
  const home = environment.HOME || environment.USERPROFILE
  if (home === undefined || home === '') throw usageFault('set HOME to the folder of the user.')
  return home
}

/** Where hooks are put: into the settings of the user, or into those of the project that the command is run in. */
export interface Where {
  root: string
  isProject: boolean
}

export function whereOf({ environment, folder }: CliWorld, isProject: boolean): Where {
  return { root: isProject ? folder : homeOf(environment), isProject }
}

/** The settings of the command line, or a usage fault. */
export function readSettings(world: CliWorld): CliSettings {
  const settings = world.settings()
  if ('faults' in settings) throw settingsFault(settings.faults)
  return settings
}

/** The folder of what the hooks of hosts need. */
export function hooksFolderOf(world: CliWorld, { hooksFolder }: CliSettings): string {
  return hooksFolder ?? join(homeOf(world.environment), '.plumbline')
}
