import { useEffect, type ReactNode } from 'react'
import classes from './page.module.css'

/** The head and the content of a screen. `trail` leads to it. */
export function Page({
  title,
  trail,
  marks,
  actions,
  tabs,
  id,
  children,
}: {
  title: string
  /** The id of what is shown, which a key copies. */
  id?: string | undefined
  trail?: ReactNode
  marks?: ReactNode
  actions?: ReactNode
  tabs?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Trainyard`
  }, [title])
  return (
    <>
      <header className={classes.head} data-id={id}>
        <div className={classes.line}>
          {trail && (
            <nav aria-label="Breadcrumb" className={classes.trail}>
              {trail}
            </nav>
          )}
          <h1>{title}</h1>
          {marks}
          <div className={classes.actions}>{actions}</div>
        </div>
        {tabs}
      </header>
      <div className={classes.content}>{children}</div>
    </>
  )
}

/** A part of a page with a heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <div className={classes.sectionHead}>
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** Names with their values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
