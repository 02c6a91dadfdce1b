/** The bytes of a POST with a JSON body, as text. */
export function postOf(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): string {
  const text = JSON.stringify(body)
  return [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    text,
  ].join('\r\n')
}
