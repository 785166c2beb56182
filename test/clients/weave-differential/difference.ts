/** Where the reference does not do what is documented or what production does, and Trainyard does. */
export interface Difference {
  /** The tests and the page use the same name. */
  name: string
  /** What the reference server does. */
  reference: string
  /** What Trainyard does, and why where that is not plain. */
  trainyard: string
}
