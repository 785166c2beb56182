import { readFileSync } from 'node:fs'
import path from 'node:path'

/** A query of the Grafana dashboard, with the title of its panel. */
export interface DashboardQuery {
  panel: string
  expression: string
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[]
}

const file = path.join(import.meta.dirname, '..', '..', 'helm', 'trainyard', 'dashboards', 'trainyard.json')

/** All queries of the chart's dashboard. */
export function listDashboardQueries(): DashboardQuery[] {
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ panel: title, expression: expr })))
}
