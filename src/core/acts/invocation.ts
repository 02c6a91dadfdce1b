/** A program with its parsed arguments. */
export interface Invocation {
  /** Lower case, without its folder and `.exe`. */
  program: string
  /** As given, without quotes. */
  args: readonly string[]
  /** Arguments before `--` that begin with a dash, including option values that do so. */
  options: readonly string[]
  /** Arguments that are neither options nor known option values. */
  positionals: readonly string[]
}

/** Options whose value is the next argument, for programs where a value could look like a command. */
const valued: Record<string, string> = {
  git: '-C -c --git-dir --work-tree --namespace',
  kubectl:
    '-n --namespace --context --cluster --kubeconfig --user -s --server -o --output -l -f --as',
  helm: '-n --namespace --kube-context --kubeconfig -f --values --set --version',
  aws: '--profile --region --output --endpoint-url --query --cli-input-json --color',
  gcloud:
    '--project --account --configuration --format --zone --region --impersonate-service-account',
  az: '--subscription --output -o --query',
  docker: '-H --host --context -c --config -l --log-level',
  npm: '-w --workspace --prefix --registry --tag -C',
  pnpm: '-C --dir --filter -F',
  yarn: '--cwd',
  cargo: '--manifest-path -Z --config -C',
  make: '-C -f -I -o',
  sudo: '-u -g -h -p -C -T -r -t -D -R -U',
  doas: '-u -C',
  env: '-u -C --unset --chdir',
  nice: '-n --adjustment',
  ionice: '-c -n -p',
  timeout: '-s -k --signal --kill-after',
  xargs: '-n -P -I -L -d -s -a -E --max-args --max-procs --replace --delimiter',
  watch: '-n --interval',
  stdbuf: '-i -o -e',
  strace: '-o -e -p',
  flock: '-w -E',
  chroot: '--userspec --groups',
  ssh: '-p -i -o -l -F -J -L -R -D -W -b -c -e -m -S',
  exec: '-a',
  'redis-cli': '-h -p -a -n -u -s --user --pass',
  su: '-s -g',
  'docker exec': '-u -w -e --user --workdir --env --env-file --detach-keys',
  'docker run':
    '-v -e -p -w -u -m -l --name --volume --env --publish --workdir --user --network --net --mount --env-file --entrypoint --platform --memory --label --hostname -h --gpus --cpus',
}

const aliases: Record<string, string> = {
  oc: 'kubectl',
  'docker-compose': 'docker',
  podman: 'docker',
  nerdctl: 'docker',
  gsudo: 'sudo',
}

/** Parses the words of a call; `as` names the program whose options apply, if it differs. */
export function readInvocation(words: readonly string[], as?: string): Invocation {
  const [first = '', ...args] = words
  const program = programOf(first)
  const values = (valued[as ?? aliases[program] ?? program] ?? '').split(' ')
  const options: string[] = []
  const positionals: string[] = []
  let ended = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (!ended && arg === '--') ended = true
    else if (!ended && /^-./.test(arg)) {
      options.push(arg)
      if (takesNext(arg, values)) at++
    } else positionals.push(arg)
  }
  return { program, args, options, positionals }
}

/** The command of a wrapper: the words from the first one that is not an option of the wrapper. */
export function wrappedBy(words: readonly string[], as?: string): string[] {
  const program = programOf(words[0] ?? '')
  const values = (valued[as ?? aliases[program] ?? program] ?? '').split(' ')
  let at = 1
  while (at < words.length) {
    const word = words[at] ?? ''
    if (word === '--') return words.slice(at + 1)
    if (!/^-./.test(word)) break
    at += takesNext(word, values) ? 2 : 1
  }
  return words.slice(at)
}

/** Whether the next argument is the value of an option, alone or as the last letter of several. */
function takesNext(option: string, values: readonly string[]): boolean {
  if (values.includes(option)) return true
  return /^-[a-zA-Z]{2,}$/.test(option) && values.includes(`-${option.at(-1)}`)
}

/** The program name of a word: its last path part, lower case, without `.exe`. */
export function programOf(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').toLowerCase().replace(/\.exe$/, '')
}

/** Whether a long option was given by its whole name, with or without a value. */
export function hasOption({ options }: Invocation, ...names: string[]): boolean {
  return options.some((option) => names.includes(option.split('=')[0] ?? ''))
}

/** Whether one of the letters was given as a short option, alone or combined: `-rf` has r and f. */
export function hasLetter({ options }: Invocation, letters: string): boolean {
  return options.some(
    (option) =>
      /^-[a-zA-Z]+$/.test(option) &&
      [...letters].some((letter) => option.slice(1).includes(letter)),
  )
}

/** Whether the positionals begin with these words; `|` separates alternatives for one word. */
export function begins({ positionals }: Invocation, words: string): boolean {
  return words
    .split(' ')
    .every((word, place) => word.split('|').includes((positionals[place] ?? '').toLowerCase()))
}
