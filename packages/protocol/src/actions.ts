import type { Action } from './action.ts';
import type * as agent from './agent.ts';
import type * as approval from './approval.ts';
import type * as extension from './extension.ts';
import type * as mail from './mail.ts';
import type * as mailIdentity from './mail-identity.ts';
import type * as pane from './pane.ts';
import type * as paneMeta from './pane-meta.ts';
import type * as panePrune from './pane-prune.ts';
import type * as paneRestart from './pane-restart.ts';
import type * as paneSearch from './pane-search.ts';
import type * as paneTerminal from './pane-terminal.ts';
import type * as paneWait from './pane-wait.ts';
import type * as server from './server.ts';
import type * as session from './session.ts';
import type * as shell from './shell.ts';

/** Every action of the hub itself, by name. */
export interface BuiltInActions {
  readonly 'pane:new': typeof pane.paneNew;
  readonly 'pane:close': typeof pane.paneClose;
  readonly 'pane:restart': typeof paneRestart.paneRestart;
  readonly 'pane:prune': typeof panePrune.panePrune;
  readonly 'pane:close-all': typeof pane.paneCloseAll;
  readonly 'pane:list': typeof pane.paneList;
  readonly 'pane:get-meta': typeof paneMeta.paneGetMeta;
  readonly 'pane:set-meta': typeof paneMeta.paneSetMeta;
  readonly 'pane:delete-meta': typeof paneMeta.paneDeleteMeta;
  readonly 'pane:update-meta': typeof paneMeta.paneUpdateMeta;
  readonly 'pane:activate': typeof pane.paneActivate;
  readonly 'pane:write': typeof paneTerminal.paneWrite;
  readonly 'pane:keys': typeof paneTerminal.paneKeys;
  readonly 'pane:read': typeof paneTerminal.paneRead;
  readonly 'pane:search': typeof paneSearch.paneSearch;
  readonly 'pane:screen': typeof paneTerminal.paneScreen;
  readonly 'pane:wait': typeof paneWait.paneWait;
  readonly 'pane:resize': typeof paneTerminal.paneResize;
  readonly 'shell:run': typeof shell.shellRun;
  readonly 'agent:create': typeof agent.agentCreate;
  readonly 'agent:explain': typeof agent.agentExplain;
  readonly 'agent:list': typeof agent.agentList;
  readonly 'agent:message': typeof agent.agentMessage;
  readonly 'agent:resume': typeof agent.agentResume;
  readonly 'agent:seen': typeof agent.agentSeen;
  readonly 'agent:record': typeof agent.agentRecord;
  readonly 'agent:set-state': typeof agent.agentSetState;
  readonly 'approval:list': typeof approval.approvalList;
  readonly 'approval:resolve': typeof approval.approvalResolve;
  readonly 'mail:register': typeof mailIdentity.mailRegister;
  readonly 'mail:unregister': typeof mailIdentity.mailUnregister;
  readonly 'mail:reconnect': typeof mailIdentity.mailReconnect;
  readonly 'mail:agents': typeof mailIdentity.mailAgents;
  readonly 'mail:send': typeof mail.mailSend;
  readonly 'mail:send-by-id': typeof mail.mailSendById;
  readonly 'mail:broadcast': typeof mail.mailBroadcast;
  readonly 'mail:broadcast-to-role': typeof mail.mailBroadcastToRole;
  readonly 'mail:inbox': typeof mail.mailInbox;
  readonly 'mail:search': typeof mail.mailSearch;
  readonly 'mail:status': typeof mail.mailStatus;
  readonly 'mail:overview': typeof mail.mailOverview;
  readonly 'session:start': typeof session.sessionStart;
  readonly 'session:stop': typeof session.sessionStop;
  readonly 'session:status': typeof session.sessionStatus;
  readonly 'extensions:list': typeof extension.extensionsList;
  readonly 'extensions:install': typeof extension.extensionsInstall;
  readonly 'extensions:remove': typeof extension.extensionsRemove;
  readonly 'server:status': typeof server.serverStatus;
  readonly 'server:stop': typeof server.serverStop;
  readonly 'server:backup': typeof server.serverBackup;
}

export type ActionName = keyof BuiltInActions;
export type ParamsOf<Name extends ActionName> =
  BuiltInActions[Name] extends Action<infer Params, infer _> ? Params : never;
export type ResultOf<Name extends ActionName> =
  BuiltInActions[Name] extends Action<infer _, infer Result> ? Result : never;
