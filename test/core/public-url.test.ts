import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  isAddress,
  isPublicAddress,
  mayConnect,
  nothingAllowed,
  readWebhookAllowance,
  readWebhookUrl,
  type WebhookAllowance,
} from '../../src/core/alerts/public-url.ts'
import { verifies } from '../verifies.ts'

/** The first and the last address of each range that is not public. */
const privateRanges: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['::1', '::1'],
  ['64:ff9b::808:808', '64:ff9b:1::808:808'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ff02::1'],
  ['5f00::', '5f00::1'],
]

/** Neighbours of those ranges and well-known hosts. */
const publicAddresses = [
  '1.0.0.0',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::',
  '2001:200::',
  '2001:4860:4860::8888',
  '2003::',
  '2606:4700:4700::1111',
  '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

const mapped = (address: string) =>
  `::ffff:${address
    .split('.')
    .reduce((hex, byte) => hex + Number(byte).toString(16).padStart(2, '0'), '')
    .replace(/(....)/, '$1:')}`

const isIPv4 = (address: string) => isIP(address) === 4
const inUrl = (address: string) => (isIPv4(address) ? address : `[${address}]`)

const read = (value: unknown) => readWebhookUrl(value, nothingAllowed)

function allowanceOf(list: string): WebhookAllowance {
  const allowance = readWebhookAllowance(list)
  assert.ok(!('faults' in allowance), list)
  return allowance
}

describe('an address', () => {
  test('of any private range is none, plain, mapped or in a url', () => {
    verifies('alerts.set.https', 'alerts.set.hosts')
    for (const address of privateRanges.flat()) {
      const forms = isIPv4(address) ? [address, `::ffff:${address}`, mapped(address)] : [address]
      for (const form of forms) {
        assert.equal(isPublicAddress(form), false, form)
        assert.equal(read(`https://${inUrl(form)}/hook`), null, form)
      }
    }
  })

  test('of everybody is public, plain, mapped or in a url', () => {
    for (const address of publicAddresses) {
      const forms = isIPv4(address) ? [address, `::ffff:${address}`, mapped(address)] : [address]
      for (const form of forms) {
        assert.equal(isPublicAddress(form), true, form)
        const url = `https://${inUrl(form)}/hook`
        assert.equal(read(url), url, form)
      }
    }
  })

  test('is read as the system reads it', () => {
    const group = fc.constantFrom('0', '1', 'ff', 'FFFF', '2001', '10', '1.2.3.4', '', '01', 'g')
    const text = fc
      .array(fc.tuple(group, fc.constantFrom(':', '::', '.', '')), { maxLength: 9 })
      .map((parts) => parts.flat().join(''))
    const address = fc.oneof(fc.ipV4(), fc.ipV6(), text)
    fc.assert(
      fc.property(address, (each) => assert.equal(isAddress(each), isIP(each) !== 0, each)),
      { numRuns: 5_000 },
    )
    for (const zone of ['fe80::1%eth0', '2001:4860:4860::8888%1']) {
      assert.equal(isPublicAddress(zone), false)
    }
  })
})

/** Spellings of places that are not public, or not https. */
const refused = [
  '',
  ' ',
  'https://',
  'https:///hook',
  'x',
  'example.com/hook',
  '//example.com/hook',
  'http://example.com/hook',
  'HTTP://example.com/hook',
  'ftp://example.com/',
  'wss://example.com/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'javascript:0',
  'gopher://example.com/',
  'https://localhost/hook',
  'https://LOCALHOST/hook',
  'https://localhost./hook',
  'https://localhost../hook',
  'https://a.localhost/hook',
  'https://a.localhost./hook',
  'https://a.LocalHost/hook',
  'https://receiver/hook',
  'https://receiver./hook',
  'https://receiver:8443/hook',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://a.internal./',
  'https://printer.local/',
  'https://printer.local.:443/',
  'https://printer.loc%61l/',
  'https://user:password@127.0.0.1/',
  'https://example.com@127.0.0.1/',
  'https://example.com:443@localhost/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://0177.0.0.01/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://0/',
  'https://0.0.0.0/',
  'https://3232235777/',
  'https://0xa9fea9fe/',
  'https://169.254.169.254/latest/meta-data/',
  'https://１２７.０.０.１/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://loc\tal\nhost/',
  'https:\\\\127.0.0.1\\hook',
  'https:127.0.0.1',
  'https://ⓛocalhost/',
  'https://[::]/',
  'https://[::1]/',
  'https://[::1]:8443/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.1.2.3]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fd12:3456::]/',
  'https://256.0.0.1/',
  'https://1.2.3.4.5/',
  'https://example.com:65536/',
  'https://example.com:x/',
  'https://exa mple.com/',
  'https://example..com/',
  'https://example.com../',
  'https://.example.com/',
  'https://xn--a/',
  `https://example.com/${'x'.repeat(4_000)}`,
]

/** Public hosts however they are spelled; names only look like private ones. */
const taken = [
  'https://example.com',
  'https://example.com/hook?a=b#c',
  'https://EXAMPLE.com./hook',
  'https://example.com:8443/hook',
  'https://user:password@example.com/hook',
  'https://fd.example/hook',
  'https://fe80.example/hook',
  'https://fda.gov/hook',
  'https://10.example.com/hook',
  'https://127.0.0.1.nip.io/',
  'https://localhost.example.com/hook',
  'https://internal.example.com/hook',
  'https://my.notlocal/hook',
  'https://xn--bcher-kva.example/hook',
  'https://bücher.example/hook',
  'https://8.8.8.8/hook',
  'https://134744072/hook',
  'https://[2606:4700:4700::1111]/hook',
  'https://a_b.example.com/hook',
]

describe('a webhook', () => {
  test('is https on a public host in every spelling, and stored as given', () => {
    verifies('alerts.set.https', 'alerts.set.hosts')
    for (const url of refused) assert.equal(read(url), null, url)
    for (const url of taken) assert.equal(read(`\n ${url}\t`), url)
  })

  test('is coerced to a string', () => {
    verifies('alerts.set.url')
    for (const value of [
      undefined,
      null,
      true,
      7,
      {},
      [],
      [[]],
      { url: 'https://example.com/' },
      { toString: 'x', valueOf: 1 },
      [{ toString: 1 }],
      ['https://a.example', null],
      ['https://localhost', ''],
    ]) {
      assert.equal(read(value), null, JSON.stringify(value))
    }
    assert.equal(read([' https://example.com/ ']), 'https://example.com/')
  })

  test('never makes the reading throw', () => {
    const spelled = fc
      .array(fc.constantFrom('https://', '[', ']', '::', '%', '.', '@', '127', 'ffff', '\\', '٣'))
      .map((parts) => parts.join(''))
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      spelled,
      fc.jsonValue(),
      fc.anything(),
    )
    fc.assert(
      fc.property(anything, fc.string({ unit: 'binary' }), (value, host) => {
        for (const each of [value, `https://${host}/`, `https://[${host}]/`]) {
          const url = read(each)
          if (url === null) continue
          assert.equal(new URL(url).protocol, 'https:')
          assert.ok(new URL(url).hostname.length > 2)
        }
        readWebhookAllowance(host)
      }),
      { numRuns: 3_000 },
    )
  })
})

describe('an exemption', () => {
  test('is of host and port, of a host, or of a network', () => {
    verifies('settings.webhook-allow')
    const list =
      'receiver, Other.local:8080, 127.0.0.1:9000, [::1]:9000, 10.1.0.0/16,fd00::/8, 192.168.0.7'
    const allow = allowanceOf(list)
    for (const [url, allowed] of [
      ['http://receiver/hook', true],
      ['https://receiver:1234/hook', true],
      ['http://RECEIVER./hook', true],
      ['http://receiver.example/hook', false],
      ['http://xreceiver/hook', false],
      ['http://other.local:8080/', true],
      ['http://other.local/', false],
      ['http://other.local:8081/', false],
      ['http://127.0.0.1:9000/', true],
      ['http://127.1:9000/', true],
      ['http://[::ffff:127.0.0.1]:9000/', true],
      ['http://127.0.0.1/', false],
      ['https://127.0.0.1:9001/', false],
      ['http://127.0.0.2:9000/', false],
      ['http://[::1]:9000/', true],
      ['http://[::1]:9001/', false],
      ['http://10.1.255.255:1/', true],
      ['http://10.2.0.0/', false],
      ['https://[fd00::1]/', true],
      ['https://[fe80::1]/', false],
      ['http://192.168.0.7/', true],
      ['http://192.168.0.8/', false],
      ['http://example.com/', false],
      ['ftp://receiver/', false],
      ['https://example.com/', true],
    ] as const) {
      assert.equal(readWebhookUrl(url, allow), allowed ? url : null, url)
    }
  })

  test('is of the default port where none is named', () => {
    const allow = allowanceOf('a:80,b:443')
    for (const [url, allowed] of [
      ['http://a/', true],
      ['https://a/', false],
      ['http://b/', false],
      ['https://b/', true],
    ] as const) {
      assert.equal(readWebhookUrl(url, allow) !== null, allowed, url)
    }
  })

  test('covers what a name resolves to, on its port', () => {
    verifies('settings.webhook-allow')
    const allow = allowanceOf('10.1.0.0/16,127.0.0.1:9000')
    assert.equal(mayConnect('10.1.2.3', 443, allow), true)
    assert.equal(mayConnect('::ffff:10.1.2.3', 443, allow), true)
    assert.equal(mayConnect('10.2.0.0', 443, allow), false)
    assert.equal(mayConnect('127.0.0.1', 9000, allow), true)
    assert.equal(mayConnect('127.0.0.1', 443, allow), false)
    assert.equal(mayConnect('8.8.8.8', 443, allow), true)
    assert.equal(mayConnect('', 443, allow), false)
    assert.equal(mayConnect('example.com', 443, allow), false)
  })

  test('that is none is named', () => {
    verifies('settings.webhook-allow')
    for (const entry of [
      '',
      'a b',
      'http://receiver',
      'receiver/',
      'receiver:99999',
      'receiver:x',
      'user@receiver',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0/8',
      'fd00::/129',
      '*.example.com',
      '::1::',
      'receiver?x',
    ]) {
      assert.deepEqual(readWebhookAllowance(`receiver,${entry}`), { faults: [entry] }, entry)
    }
  })
})
