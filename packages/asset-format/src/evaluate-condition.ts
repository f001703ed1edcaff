import type { ConditionAst } from "./condition.ts";
import { builtinConditions, type ConditionRegistry, type Evaluated, type Facts } from "./condition-registry.ts";

/**
 * Whether a condition holds, and which leaves decided. A name that the registry does not know makes the whole condition
 * false, also under `not`.
 */
export function evaluateCondition(
  ast: ConditionAst,
  facts: Facts,
  registry: ConditionRegistry = builtinConditions,
): Evaluated {
  const unknown = unknownName(ast, registry);
  if (unknown !== undefined) return { value: false, why: [`unknown condition ${unknown}`] };
  return evaluate(ast, facts, registry);
}

function unknownName(ast: ConditionAst, registry: ConditionRegistry): string | undefined {
  if (ast.kind === "call") return Object.hasOwn(registry, ast.name) ? undefined : ast.name;
  if (ast.kind === "not") return unknownName(ast.of, registry);
  for (const part of ast.of) {
    const name = unknownName(part, registry);
    if (name !== undefined) return name;
  }
  return undefined;
}

function evaluate(ast: ConditionAst, facts: Facts, registry: ConditionRegistry): Evaluated {
  if (ast.kind === "call") {
    const { value, why } = registry[ast.name]?.evaluate(ast.args, facts) ?? {
      value: false,
      why: `unknown condition ${ast.name}`,
    };
    return { value, why: [why] };
  }
  if (ast.kind === "not") {
    const inner = evaluate(ast.of, facts, registry);
    return { value: !inner.value, why: inner.why };
  }
  const parts = ast.of.map((part) => evaluate(part, facts, registry));
  const all = ast.kind === "all";
  const deciding = parts.filter(({ value }) => value !== all);
  const value = all ? deciding.length === 0 : deciding.length > 0;
  return { value, why: (deciding.length > 0 ? deciding : parts).flatMap(({ why }) => why) };
}
