import { readFileSync, rmSync } from 'node:fs'
import {
  type InstallHost,
  installHosts,
  ownEntries,
  removeEntries,
} from '../../core/hosts/install.ts'
import { type CliSettings, type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { removeShim } from './hook-shim.ts'
import { originOf, readHostFile, replaceFile, settingsBefore, textLike } from './host-file.ts'
import { placesOf, readHost, readSettings } from './init.ts'
import { isUsageFault } from './usage-fault.ts'

/** Takes the hooks of Plumbline out of the settings of a host. */
export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: 'take out the hooks that plumbline init has put in',
  usage: 'plumbline uninstall HOST',
  details: `HOST is ${installHosts.join(', ')}.

Takes out the hooks of Plumbline and nothing else. A file that has not changed since plumbline init
becomes, byte for byte, what it was before. What the hooks need goes with those of the last host.`,
  async run(args, world) {
    const host = readHost(parse(args, {}).positionals)
    const settings = readSettings(world)
    takeOut(host, placesOf(host, world, settings).file, world)
    removeUnused(host, world, settings)
    return exitCodes.ok
  },
}

function takeOut(host: InstallHost, file: string, world: CliWorld): void {
  const now = readHostFile(file)
  const own = now === null ? [] : ownEntries(now.settings)
  if (now === null || own.length === 0) {
    world.out(`${file} has no hooks of Plumbline.\n`)
    return
  }
  const origin = originOf(host, file, now)
  if (origin === null) {
    const settings = removeEntries(host, now.settings, settingsBefore(file))
    replaceFile(file, textLike(now.text, settings))
    world.out(`Took ${own.length} hooks out of ${file}.\n`)
  } else if (origin.backup === null) {
    rmSync(file)
    world.out(`Removed ${file}, which held nothing else.\n`)
  } else {
    replaceFile(file, readFileSync(origin.backup))
    rmSync(origin.backup)
    world.out(`${file} is what it was before its ${own.length} hooks.\n`)
  }
}

/** Removes what hooks need, unless a host may still have some. */
function removeUnused(host: InstallHost, world: CliWorld, settings: CliSettings): void {
  const { folder } = placesOf(host, world, settings)
  const user = installHosts.find((each) => mayHaveHooks(placesOf(each, world, settings).file))
  if (user !== undefined) world.out(`Kept ${folder}, which ${user} needs.\n`)
  else if (removeShim(folder)) world.out(`Removed hook, curl.conf and url from ${folder}.\n`)
}

function mayHaveHooks(file: string): boolean {
  try {
    return ownEntries(readHostFile(file)?.settings).length > 0
  } catch (error) {
    if (!isUsageFault(error)) throw error
    // What cannot be read may name the program.
    return true
  }
}
