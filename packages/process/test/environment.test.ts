import { expect, test } from "vitest";
import { childEnvironment, inheritedVariables, isSecretName } from "../src/environment.ts";

test("only listed variables are inherited", () => {
  const from = {
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    XDG_CACHE_HOME: "/c",
    MY_SETTING: "x",
    DATABASE_URL: "postgres://",
  };
  expect(childEnvironment({ from })).toEqual({ PATH: "/bin", HOME: "/h", LC_ALL: "C", XDG_CACHE_HOME: "/c" });
});

test("no listed name looks like a secret", () => {
  expect(inheritedVariables.filter(isSecretName)).toEqual([]);
});

test.each(["GITHUB_TOKEN", "OPENAI_API_KEY", "my_secret", "DB_PASSWORD", "XDG_TOKEN", "LC_KEY", "AWS_CREDENTIALS"])(
  "%s is never inherited, even when a list allows it",
  (name) => {
    expect(childEnvironment({ from: { [name]: "s3cr3t" }, inherit: [name, "*"] })).toEqual({});
  },
);

test("what is set on purpose is passed, whatever its name, and undefined removes", () => {
  const env = childEnvironment({ from: { PATH: "/bin", HOME: "/h" }, set: { AGENT_API_KEY: "k", HOME: undefined } });
  expect(env).toEqual({ PATH: "/bin", AGENT_API_KEY: "k" });
});

test("proxies lose their user and password", () => {
  const env = childEnvironment({ from: { HTTPS_PROXY: "http://me:pw@proxy:8080", http_proxy: "proxy:80" } });
  expect(env).toEqual({ HTTPS_PROXY: "http://proxy:8080", http_proxy: "proxy:80" });
});
