import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { runQuery, type Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { formatMetric, formatSigned } from '../../logic/numbers.ts'
import { overlays } from '../../logic/overlays.ts'
import { readChoice } from '../../logic/search.ts'
import { Chip } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Facts, Page } from '../../parts/page.tsx'
import { Answered, Failure, Loading } from '../../parts/state.tsx'
import { Difference } from './difference.tsx'
import { Siblings } from './siblings.tsx'
import { TokenOverlay } from './token-overlay.tsx'
import type { FullTrajectory } from './full-trajectory.ts'
import classes from './trajectory.module.css'

const route = '/inside/$entity/$project/runs/$run/trajectories/$trajectory'
const operation = 'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}'

/** One trajectory as a conversation, with its tokens and its siblings. */
export function TrajectoryScreen() {
  const { entity, project, run, trajectory: id } = useParams({ from: route })
  const model = useQuery(runQuery(project, run))
  if (model.error) return <Failure error={model.error} />
  if (!model.data) return <Loading />
  const trail = (
    <>
      <Link to="/$entity/$project/runs" params={{ entity, project }}>
        Runs
      </Link>
      <Link to="/$entity/$project/runs/$run" params={{ entity, project, run }}>
        {run}
      </Link>
    </>
  )
  return (
    <Page
      title={`Trajectory ${id.slice(0, 8)}`}
      id={id}
      trail={trail}
      actions={
        <>
          <Link
            to="/$entity/$project/playground"
            params={{ entity, project }}
            search={{ m: `${entity}/${project}/${run}`, run, trajectory: id }}
            className={controls.quiet}
          >
            To playground
          </Link>
          <AsCommand requests={[{ address: `/v1/preview/models/${model.data.id}/trajectories/${id}` }]} />
        </>
      }
    >
      <Loaded model={model.data} id={id} />
    </Page>
  )
}

function Loaded({ model, id }: { model: Model; id: string }) {
  const result = useQuery(apiQuery(operation, { path: { model_id: model.id, trajectory_id: id } }))
  return (
    <Answered result={result} rows={8}>
      {(trajectory) => <Shown model={model} trajectory={trajectory} />}
    </Answered>
  )
}

function Shown({ model, trajectory }: { model: Model; trajectory: FullTrajectory }) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/runs/$run/trajectories/$trajectory' })
  const name = readChoice(search.overlay, overlays)
  const change = (changes: object) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
  return (
    <div className={classes.split}>
      <div className={classes.main}>
        <Head trajectory={trajectory} />
        <div className={classes.bar}>
          <span>Colour tokens by</span>
          <Segments
            label="Overlay"
            choices={overlays}
            value={name}
            onChoose={(choice) => change({ overlay: choice === 'none' ? undefined : choice })}
          />
          {search.diff !== undefined && (
            <button type="button" className={classes.end} onClick={() => change({ diff: undefined })}>
              End the comparison
            </button>
          )}
        </div>
        {search.diff === undefined ? (
          <TokenOverlay key={trajectory.id} model={model} trajectory={trajectory} name={name} />
        ) : (
          <Difference model={model} trajectory={trajectory} other={search.diff} />
        )}
      </div>
      <Siblings model={model} trajectory={trajectory} />
    </div>
  )
}

function Head({ trajectory }: { trajectory: FullTrajectory }) {
  const { reward, advantage, push, step, split, tokens, scenario_id, flags, metrics, job_id } = trajectory
  const params = useParams({ from: route })
  const job = job_id !== null && (
    <Link className={classes.link} to="/$entity/$project/jobs/$job" params={{ ...params, job: job_id }}>
      {job_id.slice(0, 8)}
    </Link>
  )
  return (
    <div className={classes.head}>
      <Facts
        facts={[
          ['Reward', formatMetric(reward)],
          ['Advantage', formatSigned(advantage)],
          ['Push', formatSigned(push)],
          ['Step', step === null ? '–' : String(step)],
          ['Split', split],
          ['Tokens', String(tokens)],
          ...(scenario_id === null ? [] : [['Scenario', scenario_id] as const]),
          ...(job ? [['Job', job] as const] : []),
          ...Object.entries(metrics).map(
            ([name, value]) => [name, typeof value === 'number' ? formatMetric(value) : String(value)] as const,
          ),
        ]}
      />
      <p className={classes.flags}>
        {flags.map((flag) => (
          <Chip key={flag}>{flag.replaceAll('_', ' ')}</Chip>
        ))}
      </p>
    </div>
  )
}
