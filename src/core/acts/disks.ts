import type { Invocation } from './invocation.ts'

/** Whether a path is a disk, whose content a write would destroy. */
export function isDisk(path: string): boolean {
  return /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|mapper\/|dm-|md|loop)/.test(path)
}

/** Whether a disk program would write new content, a partition table or a file system. */
export function formats({ program, args, options, positionals }: Invocation): boolean {
  const first = (positionals[0] ?? '').toLowerCase()
  switch (program) {
    case 'sfdisk':
    case 'fdisk':
      return (
        positionals.some(isDisk) &&
        !options.some((option) => /^(-[dlsx]|--(list|dump|json|show-size))/.test(option))
      )
    case 'sgdisk':
      return anyOf(options, /^(-[A-Za-z]*[ZzoO]|--zap|--clear)/)
    case 'parted':
      return anyOf(positionals, /^(mklabel|mktable|mkpart|rm|mkfs)$/)
    case 'cryptsetup':
      return /^(luksformat|erase|lukserase)$/.test(first)
    case 'diskutil':
      return (
        /^(erase(disk|volume)|reformat|partitiondisk|zerodisk|secureerase|apfs)$/.test(first) &&
        first !== 'apfs'
      )
    case 'nvme':
      return first === 'format' || first === 'sanitize'
    case 'zpool':
      return first === 'destroy' || first === 'labelclear'
    case 'zfs':
      return first === 'destroy'
    case 'format':
      return anyOf(args, /^[a-z]:\\?$/i)
    default:
      return true
  }
}

function anyOf(args: readonly string[], pattern: RegExp): boolean {
  return args.some((arg) => pattern.test(arg))
}
