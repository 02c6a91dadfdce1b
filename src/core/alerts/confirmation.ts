import { escapeHtml } from '../html.ts'

/** Builds the mail with which the owner of an address confirms it. */
export function confirmationMail(link: string): { subject: string; text: string; html: string } {
  const asked = 'Somebody gave this address for mail from Plumbline. To get it, follow this link:'
  const otherwise = 'It is good for 24 hours. If it was not you, do nothing: no more mail comes.'
  return {
    subject: 'Confirm your mail address for Plumbline',
    text: `${asked}\n\n${link}\n\n${otherwise}\n`,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Confirm your mail address</title></head>
<body style="font:15px/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:16px">
<p>${asked}</p>
<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>
<p>${otherwise}</p>
</body></html>
`,
  }
}
