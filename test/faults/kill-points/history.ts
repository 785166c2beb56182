/** What clients and trainers were told, and what therefore has to be true afterwards. */
export class History {
  readonly jobs: { id: string; project: string }[] = []
  /** The ids of jobs. */
  readonly deletedResources: string[] = []
  readonly erasedProjects: string[] = []
  readonly events: { job: string; seq: number; type: string }[] = []
  readonly checkpoints: { job: string; id: string; step: number }[] = []
  /** Answers that nobody should get, such as a 500. */
  readonly wrongAnswers: string[] = []
}
