// ART logs the numbers of its jobs to the run of the model, where they have other names. This is the one list of them.

/** ART's names of the service's metrics: since 0.5.23, and in earlier releases. */
const artNames: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    reward: ['train/reward'],
    reward_std_dev: ['train/reward_std_dev'],
    exception_rate: ['train/exception_rate'],
    loss: ['loss/train'],
    entropy: ['loss/entropy'],
    kl_div: ['loss/kl_div'],
    kl_policy_ref: ['loss/kl_policy_ref'],
    grad_norm: ['loss/grad_norm'],
    learning_rate: ['loss/learning_rate'],
    num_groups_submitted: ['data/step_num_groups_submitted'],
    num_groups_trainable: ['data/step_num_groups_trainable'],
    num_trajectories: ['data/step_num_trajectories'],
    num_trainable_tokens: ['data/step_trainable_assistant_tokens', 'data/step_trainer_tokens'],
  }),
)

/** What ART alone measures, by the names of earlier releases. */
const renamed: ReadonlyMap<string, string> = new Map([['time/step_trainer_s', 'time/step_backend_train_s']])

/** It counts the rows of an SFT job. */
const stepsOfJob = 'sft/gradient_step'

/** The names under which clients log a metric of the service: of jobs, and behind `sft/` of the steps of SFT jobs. */
export function listCopies(name: string): string[] {
  const [newest = name, ...earlier] = artNames.get(name) ?? []
  const names = new Set([newest, ...earlier, `train/${name}`, `sft/${newest}`, `sft/${name}`])
  return [...names].filter((each) => each !== name)
}

/** The metrics of a model without what clients have logged of the service's own: the same numbers again. */
export function leaveOutCopies<M extends { key: string; source: string }>(metrics: readonly M[]): M[] {
  const own = metrics.filter(({ source }) => source !== 'logged')
  const copies = new Set([...own.flatMap(({ key }) => listCopies(key)), stepsOfJob])
  return metrics.filter(({ key, source }) => source !== 'logged' || !copies.has(key))
}

/** The name that the newest ART gives a metric that ART alone measures. */
export function nameToday(key: string): string {
  return renamed.get(key) ?? key.replace(/^(train|val|test)\/group_/, '$1/group/')
}
