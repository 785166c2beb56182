import { callDifferences } from './call-differences.ts'
import type { Difference } from './difference.ts'
import { objectDifferences } from './object-differences.ts'
import { otherDifferences } from './other-differences.ts'
import { queryDifferences } from './query-differences.ts'

/** All differences, by subject. */
export const differences: Record<string, Difference[]> = {
  'Writing and reading calls': callDifferences,
  'Filters, conditions and orders': queryDifferences,
  'Objects, references and tables': objectDifferences,
  'Feedback, threads, costs': otherDifferences,
}
