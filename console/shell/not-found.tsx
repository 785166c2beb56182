import { Link } from '@tanstack/react-router'
import { Empty } from '../parts/state.tsx'
import classes from './shell.module.css'

export function NotFound() {
  return (
    <main className={classes.alone}>
      <Empty title="There is no such page" heading="h1">
        <Link to="/" className={classes.link}>
          Go to your projects
        </Link>
      </Empty>
    </main>
  )
}
