import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { callApi } from '../../data/client.ts'
import { runQuery, type Model, type Trajectory } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { trajectoryDiffQuery } from '../../data/trajectory-diff.ts'
import { formatMetric, formatSigned } from '../../logic/numbers.ts'
import { overlays } from '../../logic/overlays.ts'
import { readChoice } from '../../logic/search.ts'
import { Chip } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { DownloadAnswer } from '../../parts/download.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { Answered, Failure, Loading } from '../../parts/state.tsx'
import { ToDataset } from '../../parts/to-dataset.tsx'
import { Difference } from './difference.tsx'
import { TrajectoryCalls } from './trajectory-calls.tsx'
import { Siblings } from './siblings.tsx'
import { TokenOverlay } from './token-overlay.tsx'
import type { FullTrajectory } from './full-trajectory.ts'
import classes from './trajectory.module.css'

const path = '/$entity/$project/runs/$run/trajectories/$trajectory'
const route = `/inside${path}` as const
const operation = 'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}'

/** One trajectory as a conversation, with its tokens and its siblings. */
export function TrajectoryScreen() {
  const { entity, project, run, trajectory: id } = useParams({ from: route })
  const { diff } = useSearch({ from: route })
  const model = useQuery(runQuery(project, run))
  if (model.error) return <Failure error={model.error} />
  if (!model.data) return <Loading />
  const modelId = model.data.id
  const addressOf = (each: string) => `/v1/preview/models/${modelId}/trajectories/${each}`
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
          <ToDataset what="trajectory" copy={(dataset) => copyTrajectory(modelId, id, dataset)} />
          <Link
            to="/$entity/$project/playground"
            params={{ entity, project }}
            search={{ m: `${entity}/${project}/${run}`, run, trajectory: id }}
            className={controls.quiet}
          >
            To playground
          </Link>
          <DownloadAnswer name={`trajectory-${id}`} address={addressOf(id)} />
          <AsCommand
            requests={[id, ...(diff === undefined ? [] : [diff])].map((each) => ({ address: addressOf(each) }))}
          />
        </>
      }
    >
      <Loaded model={model.data} id={id} />
    </Page>
  )
}

function copyTrajectory(modelId: string, id: string, dataset: string) {
  const body = { dataset, trajectory_ids: [id] }
  return callApi('POST /v1/preview/models/{model_id}/to-dataset', { path: { model_id: modelId }, body })
}

function Loaded({ model, id }: { model: Model; id: string }) {
  const { diff } = useSearch({ from: route })
  return diff === undefined ? <Whole model={model} id={id} /> : <Compared model={model} id={id} other={diff} />
}

function Whole({ model, id }: { model: Model; id: string }) {
  const result = useQuery(apiQuery(operation, { path: { model_id: model.id, trajectory_id: id } }))
  return (
    <Answered result={result} rows={8}>
      {(trajectory) => <Conversation model={model} trajectory={trajectory} />}
    </Answered>
  )
}

function Compared({ model, id, other }: { model: Model; id: string; other: string }) {
  const result = useQuery(trajectoryDiffQuery(model.id, other, id))
  const navigate = useNavigate({ from: path })
  const end = () => void navigate({ search: (all) => ({ ...all, diff: undefined }), replace: true })
  return (
    <Answered result={result} rows={8}>
      {(compared) => (
        <div className={classes.split}>
          <div className={classes.main}>
            <Head trajectory={compared.b} />
            <div className={classes.bar}>
              <button type="button" className={classes.end} onClick={end}>
                End the comparison
              </button>
            </div>
            <Difference compared={compared} />
          </div>
          <Siblings model={model} trajectory={compared.b} />
        </div>
      )}
    </Answered>
  )
}

function Conversation({ model, trajectory }: { model: Model; trajectory: FullTrajectory }) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: path })
  const name = readChoice(search.overlay, overlays)
  const choose = (choice: string) =>
    void navigate({ search: (all) => ({ ...all, overlay: choice === 'none' ? undefined : choice }), replace: true })
  return (
    <div className={classes.split}>
      <div className={classes.main}>
        <Head trajectory={trajectory} />
        <div className={classes.bar}>
          <span>Colour tokens by</span>
          <Segments label="Overlay" choices={overlays} value={name} onChoose={choose} />
        </div>
        <TokenOverlay key={trajectory.id} model={model} trajectory={trajectory} name={name} />
      </div>
      <Siblings model={model} trajectory={trajectory}>
        <TrajectoryCalls trajectory={trajectory} />
      </Siblings>
    </div>
  )
}

function Head({ trajectory }: { trajectory: Trajectory }) {
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
