import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { ReaderLimits, TooLarge } from '../../../lib/json/reader.ts'

/**
 * A piece is a trajectory, or any member besides the groups. A piece is parsed at once: with these limits its values
 * take some hundred MB. A trajectory of 32 thousand tokens with the top 20 log-probabilities of each still fits.
 *
 * The total bounds what later readers build. 32 groups of 16 rollouts of 2,000 tokens have 3 million objects and lists.
 * 256 MiB of only top log-probabilities have 8 million: each has two, in about 65 bytes.
 */
export const bodyLimits: ReaderLimits = {
  pieceBytes: 64 * 1024 * 1024,
  pieceContainers: 3_000_000,
  pieceCommas: 8_000_000,
  totalContainers: 20_000_000,
}

/** The error for a body beyond these limits. */
export function bodyTooLarge({ what }: TooLarge): HttpError {
  return new HttpError(errors.body_too_large, `The body is too large: ${what === 'piece' ? pieceLimits : totalLimit}.`)
}

const pieceLimits =
  `one trajectory, or one field outside of the groups, may have at most ${bodyLimits.pieceBytes / 1024 / 1024} MiB, ` +
  `${bodyLimits.pieceContainers} objects and lists, and ${bodyLimits.pieceCommas} commas`

const totalLimit = `a body may have at most ${bodyLimits.totalContainers} objects and lists. Send fewer trajectories in one request`
