import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery, wholeListQuery } from '../../data/queries.ts'
import { joinModelName, splitModelName } from '../../logic/playground.ts'
import controls from '../../parts/controls.module.css'
import { route } from './use-draft.ts'
import classes from './playground.module.css'

interface ChoiceProps {
  value: string
  onChoose: (name: string) => void
}

/** A model by its name, and one of its checkpoints or aliases. */
export function ModelChoice({ value, onChoose }: ChoiceProps) {
  const { entity, project } = useParams({ from: route })
  const { data } = useQuery(apiQuery('GET /v1/models'))
  const { model } = splitModelName(value)
  const names = data?.data.map(({ id }) => id) ?? []
  const isTrained = (name: string) => name.startsWith(`${entity}/`) && name.split('/').length === 3
  const isOwn = (name: string) => isTrained(name) && name.startsWith(`${entity}/${project}/`)
  const groups: [string, string[]][] = [
    ['This project', names.filter(isOwn)],
    ['Base models', names.filter((name) => !isTrained(name))],
    ['Other projects', names.filter((name) => isTrained(name) && !isOwn(name))],
  ]
  return (
    <div className={classes.choice}>
      <select
        className={controls.select}
        aria-label="Model"
        value={model}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {!names.includes(model) && <option value={model}>{model}</option>}
        {groups
          .filter(([, members]) => members.length > 0)
          .map(([label, members]) => (
            <optgroup key={label} label={label}>
              {members.map((name) => (
                <option key={name} value={name}>
                  {isOwn(name) ? name.slice(entity.length + project.length + 2) : name}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
      {isTrained(model) && <VersionChoice value={value} onChoose={onChoose} />}
    </div>
  )
}

/** The newest checkpoint, the model before training, its aliases and its steps. */
function VersionChoice({ value, onChoose }: ChoiceProps) {
  const { model, version } = splitModelName(value)
  const path = { model_id: model }
  const { data: details } = useQuery(apiQuery('GET /v1/preview/models/{model_id}', { path }))
  const { data: checkpoints } = useQuery(wholeListQuery('GET /v1/preview/models/{model_id}/checkpoints', { path }))
  const steps = checkpoints?.items.map(({ step }) => `step${step}`).toReversed() ?? []
  const versions = ['latest', ...Object.keys(details?.aliases ?? {}), ...steps, 'step0']
  const all = versions.includes(version) ? versions : [version, ...versions]
  return (
    <select
      className={controls.select}
      aria-label="Checkpoint"
      value={version}
      onChange={(event) => onChoose(joinModelName(model, event.currentTarget.value))}
    >
      {[...new Set(all)].map((name) => (
        <option key={name} value={name}>
          {name === 'step0' ? 'step0, untrained' : name}
        </option>
      ))}
    </select>
  )
}
