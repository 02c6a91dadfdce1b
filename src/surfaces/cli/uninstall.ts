import { readFileSync, rmSync } from 'node:fs'
import {
  type InstallHost,
  installHosts,
  ownEntries,
  removeEntries,
} from '../../core/hosts/install.ts'
import { type FileHost, fileHosts } from '../../core/hosts/install-files.ts'
import { type CliSettings, type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { removeRelay } from './connection.ts'
import { removeShim } from './hook-shim.ts'
import {
  originOf,
  projectHosts,
  readHostFile,
  removeFile,
  replaceFile,
  settingsBefore,
  textLike,
} from './host-file.ts'
import { filesNow, removeFiles } from './host-files.ts'
import { placesOf, readHost } from './init.ts'
import { isUsageFault } from './usage-fault.ts'
import { hooksFolderOf, readSettings, type Where, whereOf } from './user-home.ts'

/** Takes the hooks of Plumbline out of the settings of a host. */
export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: 'take out the hooks that plumbline init has put in',
  usage: 'plumbline uninstall HOST | --all [--project]',
  details: `HOST is ${[...installHosts, ...fileHosts].join(', ')}, or --all for every host.

  --project     out of the settings of the project in this folder, and not out of your own

Takes out the hooks of Plumbline and nothing else. A file that has not changed since plumbline init
becomes, byte for byte, what it was before; one that held nothing else goes, with the folders that are
then empty. What the hooks need goes with those of the last host, and so does the relay with what it
has not sent.`,
  async run(args, world) {
    const { values, positionals } = parse(args, {
      all: { type: 'boolean' },
      project: { type: 'boolean' },
    })
    const where = whereOf(world, values.project === true)
    const fileOf = (host: InstallHost) => placesOf(host, world, settings, where).file
    const settings = readSettings(world)
    const fileHost = fileHosts.find((each) => each === positionals[0])
    if (values.all === true && positionals.length === 0) {
      const tookOut = [
        ...(where.isProject ? projectHosts : installHosts).map((host) =>
          takeOut(host, fileOf(host), where.root, world),
        ),
        ...fileHosts.map((host) => takeOutFiles(host, where, world)),
      ]
      if (!tookOut.includes(true)) world.out('No host has hooks of Plumbline.\n')
    } else if (fileHost !== undefined && positionals.length === 1) {
      if (!takeOutFiles(fileHost, where, world))
        world.out(`${fileHost} has no file of Plumbline.\n`)
    } else {
      const host = readHost(positionals)
      const file = fileOf(host)
      if (!takeOut(host, file, where.root, world)) world.out(`${file} has no hooks of Plumbline.\n`)
    }
    // Other projects may have hooks too.
    if (!where.isProject) await removeUnused(world, settings)
    return exitCodes.ok
  },
}

/** Takes the hooks out of a file; false if there are none. */
function takeOut(host: InstallHost, file: string, root: string, world: CliWorld): boolean {
  const now = readHostFile(host, file)
  const own = now === null ? [] : ownEntries(now.settings)
  if (now === null || own.length === 0) return false
  const origin = originOf(host, file, now)
  if (origin === null) {
    const settings = removeEntries(host, now.settings, settingsBefore(host, file))
    replaceFile(file, textLike(now.text, settings))
    world.out(`Took ${own.length} hooks out of ${file}.\n`)
  } else if (origin.backup === null) {
    removeFile(file, root)
    world.out(`Removed ${file}, which held nothing else.\n`)
  } else {
    replaceFile(file, readFileSync(origin.backup))
    rmSync(origin.backup)
    world.out(`${file} is what it was before its ${own.length} hooks.\n`)
  }
  return true
}

function takeOutFiles(host: FileHost, where: Where, world: CliWorld): boolean {
  const removed = removeFiles(host, where)
  for (const path of removed) world.out(`Removed ${path}.\n`)
  return removed.length > 0
}

/** Removes what hooks need, unless a host may still have some. */
async function removeUnused(world: CliWorld, settings: CliSettings): Promise<void> {
  const folder = hooksFolderOf(world, settings)
  const user =
    installHosts.find((each) => mayHaveHooks(each, placesOf(each, world, settings).file)) ??
    fileHosts.find((each) => filesNow(each, whereOf(world, false)).own.length > 0)
  if (user !== undefined) {
    world.out(`Kept ${folder}, which ${user} needs.\n`)
    return
  }
  const stopped = await removeRelay(folder)
  if (stopped !== null) world.out(`${stopped}\n`)
  if (removeShim(folder)) {
    world.out(`Removed hook, curl.conf and url from ${folder}.\n`)
    world.out('The key of the hooks still works; the page of keys in the dashboard revokes it.\n')
  }
}

function mayHaveHooks(host: InstallHost, file: string): boolean {
  try {
    return ownEntries(readHostFile(host, file)?.settings).length > 0
  } catch (error) {
    if (!isUsageFault(error)) throw error
    // What cannot be read may name the program.
    return true
  }
}
