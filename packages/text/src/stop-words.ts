/** English words that say how a sentence is built and not what it is about; left out of queries, never of the index. */
const words = `a about above after again against ain all also am an and any are aren as at be because been before being
below between both but by can could couldn d did didn do does doesn doing don down during each few for from further get
got had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself
just ll m ma may me might mightn more most must mustn my myself need needn no nor not now o of off on once only or other
our ours ourselves out over own re s same shall shan she should shouldn so some such t than that the their theirs them
themselves then there these they this those through to too under until up us ve very was wasn we were weren what when
where which while who whom whose why will with won would wouldn y you your yours yourself yourselves`;

const contractions = `i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't
won't wouldn't can't couldn't shouldn't mustn't let's that's who's what's here's there's when's where's why's how's`;

/** As typed and folded, before stemming. */
export const stopWords: ReadonlySet<string> = new Set(`${words} ${contractions}`.split(/\s+/));
