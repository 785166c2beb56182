/** A number of things that come and go, and the most at once since the last look. */
export class PeakCount {
  #count = 0
  #peak = 0

  /** Whether there is nothing now, and was nothing since the last look. */
  get isZero(): boolean {
    return this.#count === 0 && this.#peak === 0
  }

  add(): void {
    this.#count++
    this.#peak = Math.max(this.#peak, this.#count)
  }

  remove(): void {
    this.#count--
  }

  takePeak(): number {
    const peak = this.#peak
    this.#peak = this.#count
    return peak
  }
}
