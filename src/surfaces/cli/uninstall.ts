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
  replaceFile,
  settingsBefore,
  textLike,
} from './host-file.ts'
import { filesNow, removeFiles } from './host-files.ts'
import { placesOf, readHost } from './init.ts'
import { forgetMade, removeMade } from './made-folders.ts'
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
becomes, byte for byte, what it was before. A folder that plumbline init has made goes with the file if it
is empty then. What the hooks need goes with those of the last host, and so does the relay with what it has
not sent.`,
  async run(args, world) {
    const { values, positionals } = parse(args, {
      all: { type: 'boolean' },
      project: { type: 'boolean' },
    })
    const where = whereOf(world, values.project === true)
    const fileOf = (host: InstallHost) => placesOf(host, world, settings, where).file
    const settings = readSettings(world)
    const folder = hooksFolderOf(world, settings)
    const fileHost = fileHosts.find((each) => each === positionals[0])
    if (values.all === true && positionals.length === 0) {
      const tookOut = [
        ...(where.isProject ? projectHosts : installHosts).map((host) =>
          takeOut(host, fileOf(host), folder, world),
        ),
        ...fileHosts.map((host) => takeOutFiles(host, where, folder, world)),
      ]
      if (!tookOut.includes(true)) world.out('No host has hooks of Plumbline.\n')
    } else if (fileHost !== undefined && positionals.length === 1) {
      if (!takeOutFiles(fileHost, where, folder, world))
        world.out(`${fileHost} has no file of Plumbline.\n`)
    } else {
      const host = readHost(positionals)
      const file = fileOf(host)
      if (!takeOut(host, file, folder, world)) world.out(`${file} has no hooks of Plumbline.\n`)
    }
    // Other projects may have hooks too.
    if (!where.isProject) await removeUnused(world, settings)
    return exitCodes.ok
  },
}

/** Takes the hooks out of a file; false if there are none. `folder` is that of what hooks need. */
function takeOut(host: InstallHost, file: string, folder: string, world: CliWorld): boolean {
  const now = readHostFile(host, file)
  const own = now === null ? [] : ownEntries(now.settings)
  if (now === null || own.length === 0) return false
  const origin = originOf(host, file, now)
  if (origin === null) {
    const settings = removeEntries(host, now.settings, settingsBefore(host, file))
    replaceFile(file, textLike(now.text, settings))
    world.out(`Took ${own.length} hooks out of ${file}.\n`)
  } else if (origin.backup === null) {
    rmSync(file)
    world.out(`Removed ${file}, which held nothing else.\n`)
    removeFolders(folder, [file], world)
  } else {
    replaceFile(file, readFileSync(origin.backup))
    rmSync(origin.backup)
    world.out(`${file} is what it was before its ${own.length} hooks.\n`)
  }
  return true
}

function takeOutFiles(host: FileHost, where: Where, folder: string, world: CliWorld): boolean {
  const removed = removeFiles(host, where)
  for (const path of removed) world.out(`Removed ${path}.\n`)
  removeFolders(folder, removed, world)
  return removed.length > 0
}

function removeFolders(folder: string, files: readonly string[], world: CliWorld): void {
  for (const path of removeMade(folder, files))
    world.out(`Removed ${path}, which plumbline init had made.\n`)
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
  forgetMade(folder)
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
