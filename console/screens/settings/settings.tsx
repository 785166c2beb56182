import { Link, Outlet, useParams } from '@tanstack/react-router'
import { AsCommand } from '../../parts/command.tsx'
import { Page } from '../../parts/page.tsx'
import tabs from '../../parts/tabs.module.css'

const pages = [
  ['Keys', '/$entity/settings/keys'],
  ['Limits', '/$entity/settings/limits'],
  ['Webhooks', '/$entity/settings/webhooks'],
] as const

const requests = [
  { address: '/v1/preview/keys' },
  { address: '/v1/preview/limits' },
  { address: '/v1/preview/webhooks' },
]

/** The settings of an entity: their head, and the tab of the address. */
export function SettingsScreen() {
  const { entity } = useParams({ from: '/inside/$entity/settings' })
  return (
    <Page
      title="Settings"
      trail={<span>{entity}</span>}
      actions={<AsCommand requests={requests} />}
      tabs={
        <nav aria-label="Settings" className={tabs.tabs}>
          {pages.map(([name, to]) => (
            <Link key={to} to={to} params={{ entity }} activeOptions={{ includeSearch: false }}>
              {name}
            </Link>
          ))}
        </nav>
      }
    >
      <Outlet />
    </Page>
  )
}
