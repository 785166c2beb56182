import { useEffect } from 'react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { baseUrl } from '../../data/base.ts'
import { matchesQuery, matchesRequest, type Match, type MatchFilter } from '../../data/matches.ts'
import { revealHidden } from '../../logic/chat.ts'
import { writeCurl } from '../../logic/command.ts'
import { countOf, formatCount, formatMetric } from '../../logic/numbers.ts'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Empty, Failure, Loading } from '../../parts/state.tsx'
import { useModel } from './use-model.ts'
import classes from './trajectories.module.css'

interface MatchesProps {
  text: string
  filter: MatchFilter
  selected: string | undefined
  onOpen: (id: string) => void
}

// A person reads on, or searches for something else.
const enoughMatches = 100
const enoughPages = 20

/** The trajectories that say a text, with what is around it. The search goes on by itself until there is enough to read. */
export function Matches({ text, filter, selected, onOpen }: MatchesProps) {
  const model = useModel()
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(matchesQuery(model.id, text, filter))
  const pages = data?.pages ?? []
  const found = pages.flatMap((page) => page.data)
  const searched = pages.reduce((sum, page) => sum + page.searched, 0)
  const skipped = pages.reduce((sum, page) => sum + page.skipped, 0)
  const goesOn = hasNextPage && !isFetching && !error && found.length < enoughMatches && pages.length < enoughPages
  useEffect(() => {
    if (goesOn) void fetchNextPage()
  }, [goesOn, fetchNextPage])
  if (error) return <Failure error={error} onRetry={() => void fetchNextPage()} />
  if (!data) return <Loading rows={6} label="Searching" />
  return (
    <>
      <div className={classes.listHead}>
        <p role="status" className={classes.summary}>
          {formatCount(found.length)} of {countOf(searched, 'trajectory', 'trajectories')} say it
          {skipped > 0 && `; ${formatCount(skipped)} are too large or no longer stored`}
          {hasNextPage && (isFetching ? '; the search goes on' : '; there are more to search')}
          {hasNextPage && !isFetching && (
            <button type="button" className={controls.quiet} onClick={() => void fetchNextPage()}>
              Search on
            </button>
          )}
        </p>
        <Download name={`${model.name}-matches`} rows={found} />
      </div>
      {found.length === 0 && !hasNextPage && (
        <Empty title="No conversation says this" command={writeCurl(baseUrl, matchesRequest(model.id, text, filter))}>
          The command searches again, which finds trajectories that come later. Other steps and splits may say it.
        </Empty>
      )}
      <ul className={classes.matches}>
        {found.map((match) => (
          <li key={match.id}>
            <MatchRow match={match} isSelected={match.id === selected} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </>
  )
}

function MatchRow({ match, isSelected, onOpen }: { match: Match; isSelected: boolean; onOpen: (id: string) => void }) {
  const { id, scenario_id, prompt_hash, step, group_index, trajectory_index, reward, matches } = match
  return (
    <button type="button" aria-pressed={isSelected} onClick={() => onOpen(id)}>
      <span className={classes.matchHead}>
        <b>{scenario_id ?? `prompt ${prompt_hash.slice(0, 8)}`}</b> step {step ?? '–'} · {group_index}/
        {trajectory_index} · reward {formatMetric(reward)}
      </span>
      {matches.map(({ role, before, text, after }, index) => (
        <span key={index} className={classes.position}>
          <small>{revealHidden(role)}</small> {revealHidden(before)}
          <mark>{revealHidden(text)}</mark>
          {revealHidden(after)}
        </span>
      ))}
    </button>
  )
}
