const imperatives =
  /^(please |now |then |you (must|should|have to) )?(return|stop|fix|do|don't|go|use|try|reset|declare|send|report|continue|change|choose|keep|check|say|hand|make|take|consider|never|always|re-ground|reground|resume|abandon|ask|tell|call|set|narrow|drop|switch|write|read|start|finish|pick|give|get|look|move|repeat|split|state)\b/i

/** The sentences and clauses of a text that command: an agent's host may take them for an attack. */
export function commands(text: string): string[] {
  return text.split(/(?<=[.,;:!?(]) */).filter((part) => imperatives.test(part))
}
