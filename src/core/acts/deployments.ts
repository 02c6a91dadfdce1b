import type { Invocation } from './invocation.ts'

/** Whether a program for deployments is asked for one. */
export function isDeployment({ program, positionals }: Invocation): boolean {
  const words = positionals.slice(0, 4).map((word) => word.toLowerCase())
  if (program === 'aws') {
    return /^(deploy create-deployment|ecs update-service|lambda update-function-code|elasticbeanstalk update-environment|amplify start-(job|deployment)|cloudformation (deploy|execute-change-set))/.test(
      words.join(' '),
    )
  }
  if (program === 'surge' || program === 'skaffold')
    return words[0] !== 'dev' && words[0] !== 'list'
  return (
    words.some((word) => /^(deploy|deploys|publish|up|redeploy)$/.test(word)) ||
    /:deploy$/.test(words[0] ?? '')
  )
}

const trial =
  /(^|[^a-z])(dev|devel|development|stag|staging|stage-?env|test|testing|qa|uat|preview|sandbox|local|localhost|canary-test|demo|ci)([^a-z]|$)/i

/** Whether an environment that is not the real one is named. */
export function namesTrial({ args }: Invocation): boolean {
  return args.some((arg) => trial.test(arg))
}

/** Whether the real environment is named. */
export function namesProduction({ args }: Invocation): boolean {
  return args.some((arg) => /(^|[^a-z])(prod|production|live)([^a-z]|$)/i.test(arg))
}
