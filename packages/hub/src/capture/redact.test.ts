import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redact, redactBytes } from './redact.ts';

/** Letters as a generator draws them; the same in every run. */
function drawn(
  length: number,
  alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
): string {
  let state = length * 2_654_435_761 + alphabet.length;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return alphabet[(state >>> 8) % alphabet.length];
  }).join('');
}
const hex = (length: number): string => drawn(length, '0123456789abcdef');
const upper = (length: number): string => drawn(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

/** Keys of the forms their issuers give them, put together here so that none stands in this file. */
const keys: Readonly<Record<string, string>> = {
  aws: `AKIA${upper(16)}`,
  'aws, for a while': `ASIA${upper(16)}`,
  'aws secret': `aws_secret_access_key = ${drawn(40)}`,
  anthropic: `sk-ant-api03-${drawn(80)}-${drawn(8)}AA`,
  openai: `sk-proj-${drawn(64)}`,
  'openai, old': `sk-${drawn(48)}`,
  openrouter: `sk-or-v1-${hex(64)}`,
  google: `AIza${drawn(35)}`,
  'google oauth': `ya29.${drawn(64)}`,
  'google client': `GOCSPX-${drawn(28)}`,
  github: `ghp_${drawn(36)}`,
  'github app': `ghs_${drawn(36)}`,
  'github, fine': `github_pat_${drawn(22)}_${drawn(59)}`,
  gitlab: `glpat-${drawn(20)}`,
  slack: `xoxb-${drawn(12, '0123456789')}-${drawn(12, '0123456789')}-${drawn(24)}`,
  'slack app': `xapp-1-A${upper(10)}-${drawn(13, '0123456789')}-${hex(64)}`,
  'slack hook': `https://hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${drawn(24)}`,
  'discord hook': `https://discord.com/api/webhooks/${drawn(18, '0123456789')}/${drawn(68)}`,
  stripe: `sk_live_${drawn(24)}`,
  'stripe, restricted': `rk_test_${drawn(24)}`,
  twilio: `SK${hex(32)}`,
  sendgrid: `SG.${drawn(22)}.${drawn(43)}`,
  mailgun: `key-${hex(32)}`,
  npm: `npm_${drawn(36)}`,
  pypi: `pypi-AgEIcHlwaS5vcmc${drawn(70)}`,
  rubygems: `rubygems_${hex(48)}`,
  docker: `dckr_pat_${drawn(27)}`,
  digitalocean: `dop_v1_${hex(64)}`,
  databricks: `dapi${hex(32)}`,
  vault: `hvs.${drawn(60)}`,
  tailscale: `tskey-auth-${drawn(12)}-${drawn(24)}`,
  pulumi: `pul-${hex(40)}`,
  terraform: `${drawn(14)}.atlasv1.${drawn(64)}`,
  huggingface: `hf_${drawn(34)}`,
  replicate: `r8_${drawn(37)}`,
  groq: `gsk_${drawn(52)}`,
  xai: `xai-${drawn(80)}`,
  perplexity: `pplx-${drawn(48)}`,
  nvidia: `nvapi-${drawn(64)}`,
  langsmith: `lsv2_pt_${hex(32)}_${hex(10)}`,
  linear: `lin_api_${drawn(40)}`,
  notion: `ntn_${drawn(46)}`,
  figma: `figd_${drawn(40)}`,
  shopify: `shpat_${hex(32)}`,
  square: `sq0csp-${drawn(43)}`,
  netlify: `nfp_${drawn(36)}`,
  supabase: `sbp_${hex(40)}`,
  planetscale: `pscale_tkn_${drawn(43)}`,
  doppler: `dp.pt.${drawn(43)}`,
  postman: `PMAK-${hex(24)}-${hex(34)}`,
  atlassian: `ATATT3${drawn(180)}`,
  circleci: `CCIPAT_${drawn(22)}_${hex(40)}`,
  sentry: `sntrys_${drawn(60)}`,
  grafana: `glsa_${drawn(32)}_${hex(8)}`,
  newrelic: `NRAK-${upper(27)}`,
  airtable: `pat${drawn(14)}.${hex(64)}`,
  age: `AGE-SECRET-KEY-1${drawn(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}`,
  telegram: `${drawn(9, '123456789')}:AA${drawn(33)}`,
  discord: `M${drawn(23)}.${drawn(6)}.${drawn(38)}`,
  jwt: `eyJ${drawn(30)}.eyJ${drawn(60)}.${drawn(43)}`,
  azure: `AccountKey=${drawn(86)}==`,
  sas: `https://x.blob.core.windows.net/c?sv=2024&sig=${drawn(43)}%3D`,
  poly: `POLY_TOKEN=${drawn(43)}`,
  'in an address': `postgres://admin:${drawn(16)}@db.example/main`,
  header: `Authorization: Bearer ${drawn(40)}`,
  'in a configuration': `client_secret: "${drawn(32)}"`,
  'in an environment': `export DATABASE_PASSWORD=${drawn(20)}`,
  'in a program': `const apiKey = '${drawn(32)}';`,
  pem: `-----BEGIN RSA PRIVATE KEY-----\n${drawn(64)}\n${drawn(64)}\n-----END RSA PRIVATE KEY-----`,
  openssh: `-----BEGIN OPENSSH PRIVATE KEY-----\n${drawn(70)}\n-----END OPENSSH PRIVATE KEY-----`,
};

/** The part of a sample that must not be readable afterwards. */
const randomOf = (sample: string): string =>
  sample
    .split(/[^\w+/-]|_(?=\w{20})/)
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');

describe('redaction', () => {
  it.each(Object.entries(keys))('hides a key: %s', (_, key) => {
    for (const text of [
      key,
      `curl -H "x: ${key}" https://example.org`,
      JSON.stringify({ a: JSON.stringify({ b: key }) }),
    ]) {
      const shown = redact(text);
      expect(shown).toContain('[redacted ');
      expect(shown).not.toContain(randomOf(key));
    }
  });

  it('leaves this project’s own sources as they are', () => {
    const root = join(import.meta.dirname, '..', '..', '..', '..');
    const files = globSync('{packages/*/src/**/*.{ts,tsx,css},docs/**/*.md,*.md,package-lock.json}', {
      cwd: root,
    });
    expect(files.length).toBeGreaterThan(300);
    const wrong = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return redact(text) === text || join(root, file) === import.meta.filename ? [] : [file];
    });
    expect(wrong).toEqual([]);
  });

  it('leaves what is no secret as it is', () => {
    for (const text of [
      'const token = await readToken(file);',
      'password: string; secret: boolean; apiKey?: string | undefined',
      'commit 3f786850e387550fdab836ed7e6dc881de23001b',
      'id 123e4567-e89b-12d3-a456-426614174000',
      'https://example.org/a/b?c=d#e and git@example.org:a/b.git',
      'sk-learn, task-force, disk-usage-of-the-whole-machine',
      'sha512-Y2hlY2sgdGhpcyBpcyBhIHN1bQ==',
      'token_count: 1234567890123',
      'secret = process.env.SECRET_NAME_OF_SERVICE',
    ])
      expect(redact(text)).toBe(text);
  });

  it.each(['eyJaaaaaaaa-', 'token='])('looks once at a run that never becomes a secret: %s', (beginning) => {
    const text = `${beginning.repeat(500_000 / beginning.length)}<`;
    expect(redact(text) === text).toBe(true);
  });

  it('passes bytes that are no text unchanged', () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7) % 256));
    expect(redactBytes(bytes).equals(bytes)).toBe(true);
  });
});
