import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { locate } from '../../data/client.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { sessionQuery } from '../../data/session.ts'
import { formatCompact } from '../../logic/numbers.ts'
import { readChoice } from '../../logic/search.ts'
import { formatDuration } from '../../logic/time.ts'
import {
  arrangeUsage,
  listDays,
  nameGroup,
  usageGroups,
  usageMeasures,
  type UsageMeasure,
  type UsageRow,
} from '../../logic/usage.ts'
import { Bars } from '../../parts/bars.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import classes from './usage.module.css'

const route = '/inside/$entity/usage'
const spans = ['30', '7', '90'] as const
const maxRows = 10_000
const names: Record<UsageMeasure, string> = {
  requests: 'Requests',
  completion_tokens: 'Sampled tokens',
  prompt_tokens: 'Tokens of prompts',
  trained_tokens: 'Trained tokens',
  training_seconds: 'Training time',
  gpu_seconds: 'GPU time',
}

/** What the entity has used day by day, by project, model or key. */
export function UsageScreen() {
  const { data: session } = useQuery(sessionQuery)
  if (session?.role === 'read')
    return (
      <Page title="Usage">
        <Empty title="Your key may not see the usage">
          It has the role read. Keys with the role member or admin see what the entity has used.
        </Empty>
      </Page>
    )
  return <Usage />
}

function Usage() {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/usage' })
  const by = readChoice(search.by, usageGroups)
  const span = readChoice(search.days, spans)
  const [now] = useState(Date.now)
  const days = useMemo(() => listDays(Number(span), now), [span, now])
  const query = { group_by: `day,${by}`, from: `${days[0]!}T00:00:00Z`, limit: 1_000 }
  const rows = useQuery(wholeListQuery('GET /v1/preview/usage', { query }, maxRows))
  const measure = readChoice(search.measure ?? findMeasure(rows.data?.items ?? []), usageMeasures)
  const change = (changes: typeof search) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
  return (
    <Page
      title="Usage"
      actions={
        <>
          <Download name={`usage-by-${by}`} rows={rows.data?.items ?? []} />
          <AsCommand requests={[{ address: locate('GET /v1/preview/usage', { query }).address }]} />
        </>
      }
    >
      <div className={classes.bar}>
        <Segments label="By" choices={usageGroups} value={by} onChoose={(next) => change({ by: next })} />
        <Segments label="Days" choices={spans} value={span} onChoose={(next) => change({ days: next })} />
        <span>days</span>
        <select
          className={controls.select}
          aria-label="Measure"
          value={measure}
          onChange={(event) => change({ measure: event.currentTarget.value })}
        >
          {usageMeasures.map((each) => (
            <option key={each} value={each}>
              {names[each]}
            </option>
          ))}
        </select>
      </div>
      <Answered result={rows} rows={10}>
        {({ items, isWhole }) => (
          <>
            {!isWhole && <p role="status">Only the first {maxRows} groups are shown. Choose fewer days.</p>}
            <Shown rows={items} days={days} by={by} measure={measure} />
          </>
        )}
      </Answered>
    </Page>
  )
}

/** What is shown until a person chooses: the first measure of which something was used. */
function findMeasure(rows: readonly UsageRow[]): UsageMeasure | undefined {
  return usageMeasures.find((measure) => rows.some((row) => row[measure] > 0))
}

interface ShownProps {
  rows: readonly UsageRow[]
  days: readonly string[]
  by: (typeof usageGroups)[number]
  measure: UsageMeasure
}

function Shown({ rows, days, by, measure }: ShownProps) {
  const { data: session } = useQuery(sessionQuery)
  // Only admins see the names of keys.
  const { data: keys } = useQuery({
    ...wholeListQuery('GET /v1/preview/keys'),
    enabled: by === 'key' && session?.role === 'admin',
  })
  const keyNames = useMemo(
    () => new Map(keys?.items.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const]))),
    [keys],
  )
  const nameOf = (row: UsageRow) => nameGroup(row, by, keyNames)
  const series = arrangeUsage(rows, days, { measure, nameOf })
  const format = (value: number) => formatUsage(measure, value)
  if (rows.length === 0)
    return (
      <Empty title="Nothing was used in these days" command="npm run demo">
        Chats and training jobs count as soon as they are there.
      </Empty>
    )
  return (
    <>
      {series.length === 0 ? (
        <Empty title={`${names[measure]}: none in these days`} />
      ) : (
        <Bars title={`${names[measure]} by ${by}`} labels={days} series={series} format={format} />
      )}
      <h2 className={classes.heading}>All of these days</h2>
      <Table label="Usage" columns={listColumns(by)} rows={sumGroups(rows, nameOf)} keyOf={({ name }) => name} />
    </>
  )
}

type Sum = { name: string } & Record<UsageMeasure, number>

function sumGroups(rows: readonly UsageRow[], nameOf: (row: UsageRow) => string): Sum[] {
  const sums = [...Map.groupBy(rows, nameOf)].map(([name, own]) => {
    const values = usageMeasures.map((measure) => [measure, own.reduce((sum, row) => sum + row[measure], 0)])
    return { name, ...(Object.fromEntries(values) as Record<UsageMeasure, number>) }
  })
  return sums.toSorted((a, b) => b.requests - a.requests || b.trained_tokens - a.trained_tokens)
}

function listColumns(by: string): Column<Sum>[] {
  return [
    { id: 'name', head: by, width: 'minmax(200px, 1fr)', cell: ({ name }) => name },
    ...usageMeasures.map((measure): Column<Sum> => ({
      id: measure,
      head: names[measure],
      width: '136px',
      isNumber: true,
      cell: (row) => formatUsage(measure, row[measure]),
    })),
  ]
}

function formatUsage(measure: UsageMeasure, value: number): string {
  if (value === 0) return '0'
  return measure.endsWith('_seconds') ? formatDuration(value * 1000) : formatCompact(value)
}
