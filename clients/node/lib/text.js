// Journeys, flows and reports as text for people.

/** One login step by step, as `usher journey` shows it. */
export function journeyText({ journey, steps, calls, resources }) {
  // the tree of a step-up is its whole advice
  const tree = journey.type === 'composite_advice' ? 'step-up' : journey.tree ?? 'login'
  const who = journey.login ? ` as ${journey.login}` : ''
  const head = `${journey.realm ?? ''} ${tree}${who} → ${journey.outcome}${because(journey.reason)} in ${journey.duration_ms} ms`
  const lines = [`${head} (journey ${journey.id}, by ${journey.by})`.trim()]
  for (const step of steps) {
    const shown = [step.stage, step.header].filter(Boolean).map(text => ` “${text}”`).join('')
    lines.push(call(step, shown + because(step.reason)))
    for (const asked of step.callbacks) {
      lines.push(`              ${asked.type} “${asked.prompt}”${asked.answer ? `: ${asked.answer}` : ''}`)
    }
  }
  for (const one of calls) lines.push(call(one, (one.won.length ? `, won ${one.won.join(', ')}` : '') + because(one.error)))
  for (const place of resources) lines.push(`  reached ${place.origin} ${place.requests} times`)
  return lines.join('\n')
}

function call({ at_ms, action, status, flow }, more) {
  return `  ${String(at_ms).padStart(6)} ms  ${action ?? '-'} → ${status ?? 'no response'}${more} (flow ${flow})`
}

const because = reason => (reason ? `: ${reason}` : '')

/** A line for each flow. */
export function flowsText(flows) {
  return flows.map(flow => [
    `  ${flow.id}`, flow.status ?? flow.error ?? '-', `${flow.method} ${flow.url}`, ...(flow.action ? [flow.action] : []),
    ...(flow.marks.length ? [`[${flow.marks.join(', ')}]`] : [])
  ].join('  ')).join('\n')
}

/** The expectations that are not met: why, in which flow, and how to repeat its request. */
export function reportText(report) {
  const lines = [`${report.unmet} of ${report.expectations.length} expectations unmet`]
  for (const entry of report.expectations.filter(one => one.verdict !== 'met')) {
    lines.push(`${entry.verdict}: ${entry.name}: ${entry.because}`)
    for (const failure of [...entry.failures, ...(entry.nearest ? [entry.nearest] : [])]) {
      lines.push(`  flow ${failure.flow}: ${failure.request ?? ''} → ${failure.status ?? 'no response'}`)
      if (failure.curl) lines.push(`  ${failure.curl}`)
    }
  }
  return lines.join('\n')
}
