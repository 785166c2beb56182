import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Answer } from '../../data/client.ts'
import { apiQuery } from '../../data/queries.ts'
import { formatBytes, formatCount } from '../../logic/numbers.ts'
import controls from '../../parts/controls.module.css'
import { Command } from '../../parts/command.tsx'
import { Download } from '../../parts/download.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { PauseJobs } from '../../parts/pause-jobs.tsx'
import { Answered } from '../../parts/state.tsx'
import classes from './settings.module.css'

type Limits = Answer<'GET /v1/preview/limits'>

const limitNames = [
  ['queued_jobs', 'Unfinished jobs', 'A new job is rejected with 429 until another one has ended'],
  [
    'stored_bytes',
    'Stored bytes',
    'Payloads, data sets, checkpoints, runs and traces. Uploads and jobs are rejected with 403',
  ],
  ['gpu_seconds_per_day', 'GPU seconds a day', 'Of training, in UTC; then jobs wait until the next day'],
  ['requests_per_minute', 'Requests a minute', 'Over all servers; then 429'],
  ['tokens_per_minute', 'Tokens a minute', 'Of chats, of prompts and sampled; then 429'],
  ['concurrent_streams', 'Chats at once', 'In each server; then 429'],
  ['event_streams', 'Followers of events at once', 'In each server; then 429'],
] as const

/** The limits of the entity against what it uses. */
export function LimitsTab() {
  const limits = useQuery({ ...apiQuery('GET /v1/preview/limits'), refetchInterval: 15_000 })
  return (
    <Answered result={limits} rows={8}>
      {(data) => <Shown limits={data} />}
    </Answered>
  )
}

function Shown({ limits }: { limits: Limits }) {
  const { entity } = useParams({ from: '/inside/$entity/settings' })
  return (
    <>
      <Section title="Limits" aside={<Download name="limits" rows={[limits]} />}>
        <ul className={classes.limits}>
          {limitNames.map(([key, name, meaning]) => (
            <Limit key={key} of={key} limits={limits} name={name} meaning={meaning} />
          ))}
        </ul>
      </Section>
      <Section title="Jobs that wait" aside={<PauseJobs />}>
        <p className={classes.note}>{explainPauses(limits)}</p>
      </Section>
      <Section title="Kept and recorded">
        <Facts
          facts={[
            ['Weight in shared queues', String(limits.weight)],
            ['Trajectories of finished jobs', keptDays(limits.payload_days)],
            ['Runs of the wandb SDK', keptDays(limits.run_days)],
            ['Token statistics', limits.token_statistics],
            ['Chats are recorded in', limits.trace_project === 'off' ? 'no project' : limits.trace_project],
          ]}
        />
      </Section>
      <Section title="Who changes them">
        <p className={classes.note}>
          The administrator of the installation sets limits. No key can, whatever its role. Token statistics, recording
          and a pause of the entity's own jobs are set by keys with the role admin.
        </p>
        <Command text={`npm run limits -- ${entity} --queued-jobs 20 --stored-bytes 100000000000`} />
      </Section>
    </>
  )
}

function Limit({
  of: key,
  limits,
  name,
  meaning,
}: {
  of: (typeof limitNames)[number][0]
  limits: Limits
  name: string
  meaning: string
}) {
  const format = key === 'stored_bytes' ? formatBytes : formatCount
  const limit = limits[key]
  const used = usedOf(key, limits)
  return (
    <li>
      <b>{name}</b>
      <span className={classes.use}>
        {used !== undefined && `${format(used)} of `}
        {limit === null ? 'no limit' : format(limit)}
      </span>
      {used === undefined || limit === null ? (
        <span />
      ) : (
        <progress
          className={controls.meter}
          max={1}
          value={limit === 0 ? 1 : used / limit}
          data-full={used >= limit * 0.9}
          aria-label={name}
        />
      )}
      <small>{meaning}</small>
    </li>
  )
}

function explainPauses({ paused, paused_by_administrator: byAdministrator }: Limits): string {
  const by = [...(byAdministrator ? ['the administrator'] : []), ...(paused ? ['an admin of the entity'] : [])]
  return by.length === 0
    ? 'They begin as there is room.'
    : `They are paused by ${by.join(' and ')}. Running jobs go on.`
}

function usedOf(key: string, { in_use: inUse }: Limits): number | undefined {
  if (key === 'gpu_seconds_per_day') return Math.round(inUse.gpu_seconds_today)
  return key === 'queued_jobs' || key === 'stored_bytes' ? inUse[key] : undefined
}

function keptDays(days: number | null): string {
  return days === null ? 'kept' : `kept for ${days} days`
}
