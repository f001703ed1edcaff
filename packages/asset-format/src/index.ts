export { type Activation, fillParams, parseActivations, placeholder } from "./activations.ts";
export {
  type ConditionAst,
  type ConditionError,
  isConditionError,
  parseCondition,
  printCondition,
  showCondition,
} from "./condition.ts";
export {
  builtinConditions,
  type ConditionDefinition,
  type ConditionRegistry,
  type Evaluated,
  type Facts,
} from "./condition-registry.ts";
export { evaluateCondition } from "./evaluate-condition.ts";
export { type FrontmatterDocument, parseFrontmatter, parseYamlFile, scalarText } from "./frontmatter.ts";
export {
  type FunctionCondition,
  type FunctionObserver,
  type FunctionParam,
  type FunctionSpec,
  type FunctionTransition,
  functionKeys,
  type ParsedFunction,
  parseFunction,
} from "./function.ts";
export type { Position } from "./positions.ts";
export type { Parsed, Problem } from "./problem.ts";
export { matchesRule, type RuleRelation, relateRules } from "./relate-rules.ts";
export { deepestRole, type ParsedRole, parseRole, type RoleReference, type RoleSpec, roleKeys } from "./role.ts";
export { showHidden } from "./scan/hidden.ts";
export { type Finding, type ScanOptions, type ScanRule, scanText } from "./scan/scan.ts";
export { type ParsedSkill, parseSkill, type SkillSpec, skillKeys, skillLimits, skillNameFault } from "./skill.ts";
export {
  defaultToolClasses,
  parseToolRules,
  type ToolClass,
  type ToolClasses,
  type ToolRule,
} from "./tool-rules.ts";
export { type SkillHead, writeSkill } from "./write-skill.ts";
