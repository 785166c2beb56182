/** What the parts need to know of a training method. */
type MethodTraits = {
  /** What it trains on, for people. */
  about: string
  /** Its folder in the trainer, which has its function, its optimizer's recipe and its generated settings. */
  folder: string
  /** The REST operation that creates its jobs. */
  path: string
} & (
  | { data: 'trajectories'; settingsIn: 'experimental_config' } // in the body of the request, as ART sends them
  | { data: 'rows'; settingsIn: 'config' } // lines of JSON in a file, whose address the request has
)

/**
 * The training methods. This is their only declaration: `npm run gen` writes from it the enum and the rules of the custom
 * resource, the schemas of REST and the trainer's list. A test compares it with the CHECK of the table of jobs.
 */
export const methods = {
  RL: {
    about: 'trajectories with rewards',
    folder: 'rl',
    path: '/v1/preview/training-jobs',
    data: 'trajectories',
    settingsIn: 'experimental_config',
  },
  SFT: {
    about: 'conversations',
    folder: 'sft',
    path: '/v1/preview/sft-training-jobs',
    data: 'rows',
    settingsIn: 'config',
  },
} as const satisfies Record<string, MethodTraits>

export type Method = keyof typeof methods

/** A method that trains on a file of rows. */
export type RowsMethod = { [M in Method]: (typeof methods)[M]['data'] extends 'rows' ? M : never }[Method]

export const methodNames = Object.keys(methods) as Method[]

export function isRowsMethod(method: Method): method is RowsMethod {
  return methods[method].data === 'rows'
}
