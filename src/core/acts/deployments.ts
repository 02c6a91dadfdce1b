import type { Invocation } from './invocation.ts'

/** Whether the call of a deployment program deploys. */
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

/** Whether the call names a non-production environment. */
export function namesTrial({ args }: Invocation): boolean {
  return args.some((arg) => trial.test(arg))
}

/** Whether the call names the production environment. */
export function namesProduction({ args }: Invocation): boolean {
  return args.some((arg) => /(^|[^a-z])(prod|production|live)([^a-z]|$)/i.test(arg))
}
