package tamis.peers.lucene;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.MultiMatchingQueries;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.TermQuery;

/**
 * Text queries in Lucene Monitor: arguments queries documents answers batch seconds.
 *
 * <p>A line of the first file has the words that a document must hold, a line of the second is a document. The
 * first documents warm up the JVM for a quarter of the time. The time of a batch is that of this thread, and goes
 * from the texts to the matches.
 */
public final class Texts {
    private static final int TOGETHER = 10_000;

    public static void main(String[] arguments) throws Exception {
        Monitor monitor = new Monitor(new StandardAnalyzer(), new TermFilteredPresearcher());
        long start = time();
        int queries = register(monitor, Files.readAllLines(Path.of(arguments[0])));
        double built = (time() - start) / 1e9;
        List<String> texts = Files.readAllLines(Path.of(arguments[1]));
        int batch = Integer.parseInt(arguments[3]);
        double seconds = Double.parseDouble(arguments[4]);
        long warm = time();
        for (int at = 0; (time() - warm) / 1e9 < seconds / 4; at = at + batch < texts.size() ? at + batch : 0) {
            match(monitor, texts.subList(at, Math.min(at + batch, texts.size())));
        }
        int done = 0;
        long begin = time();
        List<MultiMatchingQueries<QueryMatch>> found = new ArrayList<>();
        for (; done < texts.size() && (time() - begin) / 1e9 < seconds; done = Math.min(done + batch, texts.size())) {
            found.add(match(monitor, texts.subList(done, Math.min(done + batch, texts.size()))));
        }
        double spent = (time() - begin) / 1e9;
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(Path.of(arguments[2])))) {
            for (MultiMatchingQueries<QueryMatch> answer : found) {
                for (int at = 0; at < answer.getBatchSize(); at++) {
                    out.println(answer.getMatches(at).stream()
                        .map(QueryMatch::getQueryId).collect(Collectors.joining(" ")));
                }
            }
        }
        System.out.printf(Locale.ROOT,
            "{\"queries\": %d, \"build_s\": %.3f, \"documents\": %d, \"seconds\": %.4f}%n", queries, built, done, spent);
        System.exit(0);
    }

    private static int register(Monitor monitor, List<String> lines) throws Exception {
        List<MonitorQuery> waiting = new ArrayList<>();
        for (int id = 0; id < lines.size(); id++) {
            BooleanQuery.Builder all = new BooleanQuery.Builder();
            for (String word : lines.get(id).split(" ")) {
                all.add(new TermQuery(new Term("text", word)), Occur.FILTER);
            }
            waiting.add(new MonitorQuery(Integer.toString(id), all.build()));
            if (waiting.size() == TOGETHER || id + 1 == lines.size()) {
                monitor.register(waiting);
                waiting.clear();
            }
        }
        return lines.size();
    }

    private static MultiMatchingQueries<QueryMatch> match(Monitor monitor, List<String> texts) throws Exception {
        Document[] documents = new Document[texts.size()];
        for (int at = 0; at < documents.length; at++) {
            documents[at] = new Document();
            documents[at].add(new TextField("text", texts.get(at), Store.NO));
        }
        return monitor.match(documents, QueryMatch.SIMPLE_MATCHER);
    }

    private static long time() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
