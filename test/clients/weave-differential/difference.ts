/** Where the reference does not do what is documented or what production does, and ours does. */
export interface Difference {
  /** Both in the tests, which show it, and on the page. */
  name: string
  /** What each does, and where needed why ours is right. */
  reason: string
}
