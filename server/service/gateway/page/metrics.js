// The figures of `waystar top`: the work of a server between two answers of GetMetrics.

export const FAMILIES = [
  "process_cpu_seconds_total", "process_resident_memory_bytes", "grpc_server_handled_total",
  "grpc_server_handling_seconds", "waystar_stream_requests_total", "waystar_stream_request_seconds",
  "waystar_open_calls", "waystar_clients", "waystar_agents", "waystar_watches", "waystar_maps", "waystar_maps_bytes",
  "waystar_queue_workers", "waystar_queue_running", "waystar_queue_depth", "waystar_queue_run_seconds_total",
  "waystar_queue_refused_total",
];

function familyOf({ families = [] }, name) {
  return families.find((family) => family.name === name) ?? {};
}

function metricsOf(answer, name, labels = {}) {
  const isMeant = (metric) => Object.entries(labels).every(([label, value]) => metric.labels?.[label] === value);
  return (familyOf(answer, name).metrics ?? []).filter(isMeant);
}

function sumOf(...meant) {
  return metricsOf(...meant).reduce((sum, { value = 0 }) => sum + value, 0);
}

// Interpolates within a bucket. Values above the last bound count as that bound. Undefined if there are no values.
function percentile({ bounds, counts }, share) {
  const rank = share * counts.at(-1);
  const i = bounds.findIndex((_bound, k) => counts[k] > 0 && counts[k] >= rank);
  if (counts.at(-1) === 0 || i < 0) {
    return counts.at(-1) > 0 ? bounds.at(-1) : undefined;
  }
  const [begin, below] = i > 0 ? [bounds[i - 1], counts[i - 1]] : [0, 0];
  return begin + (bounds[i] - begin) * ((rank - below) / (counts[i] - below));
}

// Rates are a second; times are in seconds.
export function ratesBetween(earlier, after) {
  // The counters of another run of the server begin at 0.
  const before = parseFloat(after.uptime) < parseFloat(earlier.uptime) ? { uptime: "0s" } : earlier;
  const seconds = Math.max(parseFloat(after.uptime) - parseFloat(before.uptime), 1e-9);
  const now = (...meant) => sumOf(after, ...meant);
  const rate = (...meant) => Math.max(now(...meant) - sumOf(before, ...meant), 0) / seconds;
  // How many values came up to each bound, and how many there are.
  const growth = (name, labels) => {
    const countsOf = (answer) => {
      const [{ histogram = {} } = {}] = metricsOf(answer, name, labels);
      return [...(histogram.cumulative ?? []), histogram.count ?? 0].map(Number);
    };
    const base = countsOf(before);
    const counts = countsOf(after).map((count, i) => count - (base[i] ?? 0));
    return { bounds: familyOf(after, name).bounds ?? [], counts };
  };
  const methodOf = ({ labels, value }) => {
    const { grpc_service: service, grpc_method: name } = labels;
    const own = { grpc_service: service, grpc_method: name };
    const isStream = metricsOf(after, "waystar_stream_requests_total", own).length > 0;
    const total = isStream ? "waystar_stream_requests_total" : "grpc_server_handled_total";
    const requests = rate(total, own);
    return {
      name: `${service.replace("waystar.v1.", "")}/${name}`,
      isUsed: service.startsWith("waystar.") && (value > 0 || now(total, own) > 0),
      requests,
      failures: Math.max(requests - rate(total, { ...own, grpc_code: "OK" }), 0),
      refusals: rate(total, { ...own, grpc_code: "ResourceExhausted" }),
      times: growth(isStream ? "waystar_stream_request_seconds" : "grpc_server_handling_seconds", own),
    };
  };
  const methods = metricsOf(after, "waystar_open_calls").map(methodOf).filter(({ isUsed }) => isUsed);
  const sum = (name) => methods.reduce((all, method) => all + method[name], 0);
  const together = (all, { times: { bounds, counts } }) => {
    return { bounds, counts: counts.map((count, i) => count + (all.counts[i] ?? 0)) };
  };
  const times = methods.reduce(together, { bounds: [], counts: [0] });
  const percentiles = (values) => ({ p50: percentile(values, 0.5), p99: percentile(values, 0.99) });
  return {
    uptime: parseFloat(after.uptime),
    requests: sum("requests"),
    failures: sum("failures"),
    refusals: sum("refusals"),
    ...percentiles(times),
    memory: now("process_resident_memory_bytes"),
    processors: rate("process_cpu_seconds_total"),
    clients: now("waystar_clients"),
    agents: now("waystar_agents"),
    watches: now("waystar_watches"),
    mapCount: now("waystar_maps"),
    mapBytes: now("waystar_maps_bytes"),
    conditions: (after.conditions ?? []).map(({ text }) => text),
    methods: methods
      .map((method) => ({ ...method, ...percentiles(method.times) }))
      .sort((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1)),
    lanes: metricsOf(after, "waystar_queue_workers").map(({ labels: { lane }, value }) => ({
      name: lane,
      workers: value,
      running: now("waystar_queue_running", { lane }),
      busy: Math.min(rate("waystar_queue_run_seconds_total", { lane }) / Math.max(value, 1), 1),
      queued: now("waystar_queue_depth", { lane }),
      refusals: rate("waystar_queue_refused_total", { lane }),
    })),
  };
}
