import { useCallback, useEffect, useState } from 'react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { callsPageQuery, callsPageSize, newestOf, type CallsQuery } from '../../data/calls.ts'
import { costOf, type Call } from '../../logic/calls.ts'
import { PagedRows } from '../../logic/paged-rows.ts'

// Who drags the bar of a table passes many pages. Only those where it rests for so long are read.
const restMs = 40
// Costs are known of calls that are read. So many pages are read at most to find a cost.
const maxCostPages = 50
const overscan = 20

interface Wanted {
  body: CallsQuery
  /** The indexes of pages, with commas. */
  pages: string
}

interface Options {
  /** How many calls there are, if it is known. */
  counted: number | undefined
  minCost: number
}

/**
 * The calls of a table: its first page, and those near the rows on the screen. With a least cost, pages are read in their
 * order, and `rows` has only their calls with that cost.
 */
export function useCallPages(body: CallsQuery, { counted, minCost }: Options) {
  const [range, setRange] = useState({ first: 0, last: 0 })
  const [wanted, setWanted] = useState<Wanted>({ body, pages: '0' })
  const first = useQuery(callsPageQuery(body, 0))
  const newest = first.data && newestOf(first.data)
  const others = first.data && wanted.body === body ? readPages(wanted.pages) : []
  const answers = useQueries({ queries: others.map((index) => callsPageQuery(body, index, newest)) })
  const pages = new Map<number, readonly Call[]>(first.data ? [[0, first.data]] : [])
  for (const [index, { data }] of answers.entries()) if (data) pages.set(others[index]!, data)
  const all = new PagedRows(pages, callsPageSize, counted)
  const loaded = [...pages.values()].flat()
  const ofCost = minCost > 0 ? loaded.filter((call) => (costOf(call) ?? 0) >= minCost) : undefined
  const near = ofCost
    ? listToEnd(all, pages.size, range.last >= ofCost.length - overscan)
    : all.listPages(range.first, range.last)
  const next = near.join(',')
  useEffect(() => {
    const timer = setTimeout(() => setWanted({ body, pages: next }), restMs)
    return () => clearTimeout(timer)
  }, [body, next])
  const failed = [first, ...answers].find(({ error }) => error)
  return {
    rows: ofCost ?? all,
    loaded,
    newest,
    result: {
      data: first.data,
      error: failed?.error ?? null,
      dataUpdatedAt: first.dataUpdatedAt,
      refetch: () => failed?.refetch(),
    },
    /** Says which rows are near the screen. */
    move: useCallback((from: number, to: number) => setRange({ first: from, last: to }), []),
  }
}

/** The first page is always there. */
function readPages(text: string): number[] {
  return text
    .split(',')
    .map(Number)
    .filter((index) => index > 0)
}

function listToEnd({ isWhole }: { isWhole: boolean }, loaded: number, isAtEnd: boolean): number[] {
  const count = Math.min(maxCostPages, loaded + (isAtEnd && !isWhole ? 1 : 0))
  return Array.from({ length: count }, (_, index) => index)
}
