import { type Fields, fieldsOf, listOf, textOf } from '../hosts/fields.ts'
import { parseJson } from '../text.ts'

/**
 * The words in the messages of a model, as instrumentations write them into attributes. Shapes were taken from spans that
 * the exporters themselves made: OpenTelemetry's conventions for generative AI, the AI SDK, OpenInference 0.1, LangSmith
 * 0.15, OpenLLMetry 0.62 (and its earlier flat attributes), Logfire 5.4.
 */

interface Message {
  role: string
  text: string
}

/** Messages of flat attributes that are looked at. */
const mostMessages = 5000
/** Characters of a message, before what a host has put around the words is taken off. */
const mostText = 40_000

/** The newest words of the user among the messages that a model was given; '' if none are told. */
export function wordsOfPerson(attributes: Fields): string {
  const direct = textOf(attributes.user_prompt, attributes['ai.prompt.text'])
  if (direct !== '') return direct
  for (const messages of inputs(attributes)) {
    const last = messages().findLast(({ role, text }) => role === 'user' && text !== '')
    if (last !== undefined) return last.text.slice(0, mostText)
  }
  return ''
}

/** What a model answered in words; '' if it is not told, or if it only called tools. */
export function wordsOfModel(attributes: Fields): string {
  for (const messages of outputs(attributes)) {
    const last = messages().findLast(({ role, text }) => role !== 'user' && text !== '')
    if (last !== undefined) return textOf(last.text)
  }
  return textOf(attributes['ai.response.text'])
}

function inputs(attributes: Fields): (() => Message[])[] {
  return [
    () => messagesIn(attributes['gen_ai.input.messages']),
    () => messagesIn(attributes['ai.prompt.messages']),
    () => messagesIn(attributes['ai.prompt']),
    () => flatMessages(attributes, 'llm.input_messages.', '.message'),
    () => flatMessages(attributes, 'gen_ai.prompt.', ''),
    () => messagesIn(attributes['gen_ai.prompt']),
    () => messagesIn(attributes.events),
    () => messagesIn(fieldsOf(read(attributes['traceloop.entity.input'])).inputs),
    () => messagesIn(attributes['pydantic_ai.all_messages'] ?? attributes.all_messages_events),
    () => promptIn(attributes['input.value']),
  ]
}

function outputs(attributes: Fields): (() => Message[])[] {
  return [
    () => messagesIn(attributes['gen_ai.output.messages']),
    () => flatMessages(attributes, 'llm.output_messages.', '.message'),
    () => flatMessages(attributes, 'gen_ai.completion.', ''),
    () => answersIn(read(attributes['gen_ai.completion'])),
    () => closing(messagesIn(attributes.events)),
  ]
}

/** Where the messages of a model's input and of its output stand in one list, the output is what follows the input. */
function closing(messages: readonly Message[]): Message[] {
  const end = messages.findLastIndex(({ role }) => role !== 'assistant')
  return messages.slice(end + 1)
}

function read(value: unknown): unknown {
  return typeof value === 'string' ? parseJson(value) : value
}

/** An input of any kind, of which a text that is no JSON is a prompt. */
function promptIn(value: unknown): Message[] {
  return typeof value === 'string' && parseJson(value) === undefined
    ? [{ role: 'user', text: value.trim() }]
    : messagesIn(value)
}

/** Messages as a list, as a batch of one list, in an object that holds them, or one text as a prompt. */
function messagesIn(value: unknown): Message[] {
  const given = read(value)
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) {
    const { messages, prompt } = fieldsOf(given)
    if (messages !== undefined) return messagesIn(messages)
    return typeof prompt === 'string' ? [{ role: 'user', text: prompt.trim() }] : [messageOf(given)]
  }
  const [first] = given
  return (Array.isArray(first) ? first : given).map(messageOf)
}

const roles: Readonly<Record<string, string>> = {
  human: 'user',
  HumanMessage: 'user',
  HumanMessageChunk: 'user',
  ai: 'assistant',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  model: 'assistant',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.choice': 'assistant',
}

/**
 * A message with a role, or as LangChain writes it, with a type, in a `data` or as a constructor; or the choice of a model
 * that holds one.
 */
function messageOf(value: unknown): Message {
  const message = fieldsOf(value)
  if (message.message !== undefined) {
    const inner = messageOf(message.message)
    return inner.text === '' ? { ...inner, text: textOf(message.text) } : inner
  }
  const own = fieldsOf(message.kwargs ?? message.data)
  const { content, parts, text } = { ...message, ...own }
  const told = [message.role, own.role, own.type, listOf(message.id).at(-1), message.type]
  const name = textOf(...told, message['event.name'])
  return { role: roles[name] ?? name, text: textIn(parts ?? content ?? text) }
}

/** Parts of a message that hold what a tool was given or answered, or what the model thought. */
const noWords = /tool|function|reasoning|thinking/

/** The text of a message, as a text, or as parts of which some hold text. */
function textIn(content: unknown): string {
  if (typeof content === 'string') {
    // Flat attributes hold a list of parts as JSON.
    const list = content.startsWith('[{') ? parseJson(content) : undefined
    return Array.isArray(list) ? textIn(list) : spokenIn(content)
  }
  const texts = listOf(content).map((part) => {
    if (typeof part === 'string') return part.trim()
    const { type, content: own, text } = fieldsOf(part)
    return noWords.test(textOf(type)) ? '' : spokenIn(textOf(own, text))
  })
  return texts.filter((text) => text !== '').join('\n')
}

/** Some libraries write an object of Python, such as the call of a tool, in the place of words. */
function spokenIn(text: string): string {
  return /^[A-Z]\w+\(\w+=/.test(text) ? '' : text.trim()
}

/** What LangSmith keeps of an answer: generations, choices, one output, or messages. */
function answersIn(answer: unknown): Message[] {
  const { generations, choices, output, messages } = fieldsOf(answer)
  const many = generations ?? choices
  if (many !== undefined) return messagesIn(many)
  const given = output ?? messages ?? answer
  return typeof given === 'string' ? [{ role: 'assistant', text: given }] : messagesIn(given)
}

/** Messages whose parts are attributes of their own; some begin to count at 1. */
function flatMessages(attributes: Fields, before: string, behind: string): Message[] {
  const messages: Message[] = []
  for (let nth = 0; nth < mostMessages; nth++) {
    const message = `${before}${nth}${behind}`
    const role = attributes[`${message}.role`]
    if (role === undefined && nth > 0) break
    const content = attributes[`${message}.content`] ?? flatParts(attributes, message)
    messages.push({ role: textOf(role), text: textIn(content) })
  }
  return messages
}

function flatParts(attributes: Fields, message: string): unknown[] {
  const parts: unknown[] = []
  for (let nth = 0; nth < 50; nth++) {
    const part = `${message}.contents.${nth}.message_content`
    const type = attributes[`${part}.type`]
    if (type === undefined) break
    parts.push({ type, text: attributes[`${part}.text`] })
  }
  return parts
}
