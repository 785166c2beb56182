import type { Demo } from './demo.ts'

/** A screen: its path, and a text that is there when the screen shows its data. Add a line for each new route. */
export interface Route {
  path: string
  shows: string
  /** It shows nothing that is read for it alone, or nothing that exists. */
  isStill?: true
}

/** Every route of the console that needs a session. */
export function listRoutes(entity: string, { project, run, jobs, trajectory, calls, logged, dataSet }: Demo): Route[] {
  const home = `/${entity}/${project}`
  const ofRun = `${home}/runs/${run.name}`
  return [
    { path: '/', shows: project },
    { path: home, shows: 'Last runs' },
    { path: `/${entity}/empty`, shows: 'is empty' },
    { path: `${home}/runs`, shows: run.name },
    { path: `${home}/compare?runs=${run.name},other-20261121050211`, shows: 'entropy' },
    { path: ofRun, shows: 'entropy' },
    { path: `${ofRun}/trajectories?step=6`, shows: 'in 12 groups' },
    { path: `${ofRun}/trajectories?step=6&order=push&peek=${trajectory}`, shows: 'You answer in one short sentence.' },
    { path: `${ofRun}/trajectories/${trajectory}?overlay=advantage`, shows: 'The same prompt at other steps' },
    { path: `${ofRun}/checkpoints`, shows: '12 checkpoints' },
    { path: `${ofRun}/jobs`, shows: '12 jobs' },
    { path: `${home}/jobs/${jobs.succeeded}`, shows: 'training_ended' },
    { path: `${home}/jobs/${jobs.failed}`, shows: 'The same job would fail again.' },
    { path: `${home}/jobs/${jobs.running}`, shows: 'running' },
    { path: `${home}/jobs/${jobs.waiting}`, shows: 'Why it waits' },
    { path: `${home}/runs/${logged}`, shows: 'Last heard of' },
    { path: `${home}/datasets?peek=upload/${dataSet}`, shows: 'wandb-artifact:///' },
    { path: `/${entity}/empty/datasets`, shows: 'No data sets yet' },
    { path: `${home}/playground`, shows: 'Its answer appears here.' },
    { path: `${home}/playground?run=${run.name}&trajectory=${trajectory}`, shows: 'Before turn 2 of 3' },
    { path: `/${entity}/usage`, shows: 'All of these days' },
    { path: `/${entity}/settings/keys`, shows: 'Last used' },
    { path: `/${entity}/settings/limits`, shows: 'Unfinished jobs' },
    { path: `/${entity}/settings/webhooks`, shows: 'No webhooks yet' },
    { path: '/authorize?ref=weave', shows: 'A key for your program', isStill: true },
    { path: `${home}/weave`, shows: 'answer_question' },
    { path: `${home}/weave/calls?op=look_up&status=error&peek=${calls.tool}`, shows: 'KeyError: orange' },
    { path: `/${entity}/empty/weave/traces`, shows: 'No traces yet' },
    { path: `${home}/weave/threads/talk`, shows: 'Show the thread talk', isStill: true },
    { path: `${home}/r/call/${calls.root}`, shows: 'Orange is warm.' },
    { path: `${home}/weave/calls/${calls.root}?errors=1&tab=inputs+and+output`, shows: 'warm?' },
    { path: `${home}/weave/calls/${calls.root}?tab=usage`, shows: 'Completion tokens' },
    { path: `${home}/weave/calls/${calls.root}?tab=feedback`, shows: 'No feedback yet.' },
    { path: `${home}/weave/calls/${calls.tool}`, shows: 'This call is large' },
    { path: `${home}/nothing/of/this`, shows: 'There is no such page', isStill: true },
  ]
}
