import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentName } from './installed-agents.ts';

interface Place {
  readonly home: string;
  readonly work: string;
  /** Where the scripted model listens. */
  readonly model: string;
}

interface Seed {
  readonly env: Readonly<Record<string, string>>;
  /** Files below the home, so that no dialog stands in the way. */
  readonly files: Readonly<Record<string, string>>;
}

const stub = { tool_call: true, limit: { context: 100_000, output: 4096 } };
const key = 'sk-test-0123456789-0123456789-dummy';

const seeds: Readonly<Record<AgentName, (place: Place) => Seed>> = {
  claude: ({ work, model }) => ({
    env: {
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_BASE_URL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    files: {
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        hasSeenAutoDefaultNotice: true,
        customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
        projects: { [work]: { hasTrustDialogAccepted: true } },
      }),
    },
  }),
  codex: ({ work, model }) => ({
    env: { STUB_API_KEY: key },
    files: {
      '.codex/config.toml': `model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false
[model_providers.stub]
name = "Stub"
base_url = "${model}/v1"
env_key = "STUB_API_KEY"
wire_api = "responses"
[projects."${work}"]
trust_level = "trusted"
`,
    },
  }),
  opencode: ({ model }) => ({
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    files: {
      // As if it had installed what it installs beside a plugin, which it would else try to fetch for a minute.
      '.config/opencode/node_modules/.package-lock.json': '{}',
      '.config/opencode/package-lock.json': JSON.stringify({
        packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } },
      }),
      '.config/opencode/opencode.json': JSON.stringify({
        model: 'stub/stub-1',
        small_model: 'stub/stub-1',
        enabled_providers: ['stub'],
        autoupdate: false,
        share: 'disabled',
        provider: {
          stub: {
            npm: '@ai-sdk/anthropic',
            name: 'Stub',
            options: { baseURL: `${model}/v1`, apiKey: key },
            models: { 'stub-1': stub, 'stub-2': stub },
          },
        },
      }),
    },
  }),
  gemini: ({ model }) => ({
    env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true, disableUpdateNag: true },
        privacy: { usageStatisticsEnabled: false },
      }),
    },
  }),
};

export interface AgentHome {
  readonly work: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** An empty home with dummy keys, seeded so that the agent starts without a dialog and talks to `model` only. */
export async function createAgentHome(agent: AgentName, model: string): Promise<AgentHome> {
  const home = await realpath(await mkdtemp(join(tmpdir(), `poly-${agent}-`)));
  const work = join(home, 'work');
  await mkdir(work);
  const { env, files } = seeds[agent]({ home, work, model });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), text);
  }
  return {
    work,
    env: {
      HOME: home,
      PATH: process.env.PATH ?? '',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      COLORTERM: 'truecolor',
      // Nothing but loopback: whatever else an agent tries to reach goes to a port that refuses.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      ...env,
    },
    remove: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}
