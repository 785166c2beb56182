/** A case in which the reference differs from the documents or from the production service, and Trainyard does not. */
export interface Difference {
  /** The tests and the page use this name. */
  name: string
  /** What the reference server does. */
  reference: string
  /** What Trainyard does, and the reason if it is not obvious. */
  trainyard: string
}
