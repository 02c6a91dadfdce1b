import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageOf } from '../../src/core/detector/meaning/languages.ts'

test('words of English that look like particles of another language do not tell it', () => {
  for (const text of [
    'one row per customer',
    'sum per product, dough per kg',
    'Rate limit per sender',
    'Wait until 100 per cent, took 11 minutes',
    'list file, commit, author, kind, still valid y/n',
    'where do paginator tests live',
    'dice game: let one die per player roll',
    'replace the man page of the tool',
    'no errors, a picture as before',
    'compare a van and a truck',
    'flights to LA and Los Angeles hotels',
    'Which afternoons do you have? Mon, Wed, Fri',
    'they come in on Monday, also the others',
  ]) {
    assert.equal(languageOf(text), 'English', text)
  }
})

test('the same words beside other particles of their language tell it', () => {
  for (const [language, texts] of Object.entries({
    Italian: ['una riga per ogni cliente', 'grazie per il lavoro', 'per favore'],
    German: ['die Liste der Kunden', 'was die Kunden bei uns kaufen', 'die Rechnungen mit Anhang'],
    Spanish: [
      'abrir el archivo y la carpeta',
      'los clientes de Madrid',
      'comprobar que los anexos existen',
    ],
    Portuguese: ['abrir as planilhas do cliente', 'a lista de clientes e o resumo não mudam'],
    French: ['ouvrir le fichier et la liste', 'extraire la liste des clients', 'par client'],
    Dutch: ['de lijst van de klanten', 'wat een man met een bus doet'],
  })) {
    for (const text of texts) assert.equal(languageOf(text), language, text)
  }
})
