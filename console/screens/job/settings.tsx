import { useState } from 'react'
import { jobSettings } from '../../data/api-types.ts'
import type { Job } from '../../data/models.ts'
import { listSettings } from '../../logic/settings.ts'
import controls from '../../parts/controls.module.css'
import classes from './job.module.css'

/** The settings of a job. Those of its request are marked; the defaults are shown on demand. */
export function Settings({ job }: { job: Job }) {
  const [showsAll, setShowsAll] = useState(false)
  const given = job.config ?? job.experimental_config ?? {}
  const settings = listSettings(jobSettings[job.method], given)
  const changed = settings.filter(({ isGiven }) => isGiven)
  const shown = showsAll ? settings : changed
  return (
    <>
      {changed.length === 0 && !showsAll && <p className={classes.quiet}>All settings have their defaults.</p>}
      <dl className={classes.settings}>
        {shown.map(({ name, value, description, isGiven }) => (
          <div key={name} data-given={isGiven} title={description}>
            <dt>{name}</dt>
            <dd>
              {value}
              {isGiven && showsAll && <small> set</small>}
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" className={controls.quiet} aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
        {showsAll ? 'Only what the request set' : `All ${settings.length} settings`}
      </button>
    </>
  )
}
