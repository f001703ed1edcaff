import { describeHost } from "./conformance.ts";
import { everyFamilyTool } from "./families.ts";
import { aiSdkHost } from "./hosts/ai-sdk.ts";

for (const host of [aiSdkHost]) describeHost(host, everyFamilyTool);
