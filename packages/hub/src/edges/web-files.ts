import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import type { OpenRoute } from './routes.ts';

/** What the page may load and whom it may ask: this hub; of what is written into the page itself, these styles. */
const policy = (inlineStyles: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${inlineStyles.map((style) => `'sha256-${digest(style)}'`).join(' ')}`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The style of the first paint, which waits for nothing else. */
const firstStyle = /<style>([^<]*)<\/style>/;
/** xterm.js makes style elements, which the page leaves empty (policy-styles.ts). */
const noStyle = '';

/** Names with a hash of the content in them never come to mean anything else. */
const forEver = 'public, max-age=31536000, immutable';
const assetName = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+$/;

/** The page, to whoever passes the gate: it holds no data, and gets its key by a ticket. */
export function webFiles(folder: string): readonly OpenRoute[] {
  return [
    {
      method: 'GET',
      path: '/',
      summary: 'Answers the page.',
      scope: 'open',
      handle: ({ response }) => send(response, folder, 'index.html', 'no-store'),
    },
    {
      method: 'GET',
      path: '/assets/:name',
      summary: 'Answers a part of the page.',
      scope: 'open',
      handle({ response, name }) {
        if (!assetName.test(name) || !types[extname(name)]) throw noFile(name);
        return send(response, join(folder, 'assets'), name, forEver);
      },
    },
  ];
}

async function send(
  response: ServerResponse,
  folder: string,
  name: string,
  cache: string,
): Promise<undefined> {
  const body = await readFile(join(folder, name)).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? noFile(name) : cause;
  });
  const inline = name.endsWith('.html') ? (firstStyle.exec(String(body))?.slice(1) ?? []) : [];
  response.writeHead(200, {
    'content-type': types[extname(name)],
    'content-length': body.length,
    'cache-control': cache,
    'content-security-policy': policy([noStyle, ...inline]),
    'cross-origin-opener-policy': 'same-origin',
  });
  response.end(body);
}

function noFile(name: string): PolyError {
  return new PolyError('unknown_route', `this hub has no ${name.slice(0, 128)}.`, {
    hint: 'In a clone the page is built by npm run build.',
  });
}
