import type { RowList } from '../logic/paged-rows.ts'
import { useKey } from './use-key.ts'

/** `j` and `k` go to the next and the previous row of a list beside a peek panel, Escape closes the panel. */
export function useRowKeys(
  rows: RowList<{ id: string }>,
  peek: string | undefined,
  open: (id: string | undefined) => void,
): void {
  const at = rows.findIndex(({ id }) => id === peek)
  const go = (index: number) => {
    const row = index < 0 ? undefined : rows.at(index)
    if (row) open(row.id)
  }
  useKey('next', () => go(at + 1))
  useKey('previous', () => go(at === -1 ? 0 : at - 1))
  useKey('close', () => open(undefined), peek !== undefined)
}
