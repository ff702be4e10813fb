package tamis.peers;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The course that every peer runs (course.py), in Java: adapter file answers subscriptions budget. */
public final class Main {
    private static final int BUILD_BUDGETS = 4;

    public static void main(String[] arguments) throws Exception {
        Content content = Content.read(Path.of(arguments[1]), Integer.parseInt(arguments[3]));
        Class<?> adapter = Class.forName("tamis.peers." + arguments[0] + ".Adapter");
        Peer<?, ?> peer = (Peer<?, ?>) adapter.getConstructor(Content.class).newInstance(content);
        run(peer, content, Path.of(arguments[2]), Double.parseDouble(arguments[4]));
        System.exit(0); // a library may have left threads behind
    }

    private static <E, A> void run(Peer<E, A> peer, Content content, Path answers, double budget) throws Exception {
        long start = System.nanoTime();
        int count = build(peer, content, BUILD_BUDGETS * budget);
        double built = since(start);
        List<E> events = new ArrayList<>();
        for (int[] values : content.events()) {
            events.add(peer.event(values));
        }
        warmUp(peer, events, budget / 8);
        peer.warmed();
        warmUp(peer, events, budget / 8);
        List<A> found = new ArrayList<>();
        List<Double> passes = passes(peer, events, budget, found);
        long matches = write(peer, found, answers);
        DoubleSummaryStatistics each =
            passes.stream().mapToDouble(seconds -> seconds / found.size() * 1e6).summaryStatistics();
        System.out.printf(Locale.ROOT,
            "{\"subscriptions\": %d, \"build_s\": %.4f, \"events\": %d, \"repeats\": %d, \"us_per_event\": %.4f,"
            + " \"us_per_event_best\": %.4f, \"matches\": %d}%n",
            count, built, found.size(), passes.size(), each.getAverage(), each.getMin(), matches);
    }

    private static int build(Peer<?, ?> peer, Content content, double limit) throws Exception {
        long start = System.nanoTime();
        int count = 0;
        for (Predicate[] predicates : content.subscriptions()) {
            peer.add(count++, predicates);
            if (since(start) > limit) {
                break;
            }
        }
        peer.ready();
        return count;
    }

    /** In rounds until the time is up, since the compiler of the JVM wants to see a method often. */
    private static <E, A> void warmUp(Peer<E, A> peer, List<E> events, double seconds) throws Exception {
        long start = System.nanoTime();
        for (int at = 0; since(start) < seconds; at = (at + 1) % events.size()) {
            peer.match(events.get(at));
        }
    }

    /** Seconds of each pass; the first, which half of the budget may cut short, gives the answers. */
    private static <E, A> List<Double> passes(Peer<E, A> peer, List<E> events, double budget, List<A> found)
            throws Exception {
        List<Double> passes = new ArrayList<>();
        long begin = System.nanoTime();
        for (E event : events) {
            found.add(peer.match(event));
            if (since(begin) > budget / 2) {
                break;
            }
        }
        passes.add(since(begin));
        while (since(begin) + passes.get(passes.size() - 1) < budget) {
            long start = System.nanoTime();
            for (int at = 0; at < found.size(); at++) {
                peer.match(events.get(at));
            }
            passes.add(since(start));
        }
        return passes;
    }

    private static <E, A> long write(Peer<E, A> peer, List<A> found, Path answers) throws Exception {
        long matches = 0;
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(answers))) {
            for (A answer : found) {
                int[] ids = peer.ids(answer);
                matches += ids.length;
                Arrays.sort(ids);
                out.println(Arrays.stream(ids).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
            }
        }
        return matches;
    }

    private static double since(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
