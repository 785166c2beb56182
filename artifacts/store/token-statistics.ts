/** Where the statistics lie of the tokens that a checkpoint was trained on. */
export function tokenStatisticsKey(checkpointId: string): string {
  return `token-statistics/${checkpointId}.parquet`
}
