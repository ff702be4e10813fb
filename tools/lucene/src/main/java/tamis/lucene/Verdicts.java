package tamis.lucene;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.pattern.PatternTokenizer;
import org.apache.lucene.index.memory.MemoryIndex;
import org.apache.lucene.queryparser.classic.MultiFieldQueryParser;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;

/**
 * Says which documents each query finds. Lines of standard input: "document", then name and text of each
 * field; "query", then the operator, the default fields with commas between, and the query. Parts are separated
 * by tabs and URL-encoded. Each query is answered by a line: one 0 or 1 for each document, or "error".
 */
public final class Verdicts {
    /** Words are runs of letters and digits, without case and accents. */
    private static final class Words extends Analyzer {
        private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}]+");

        @Override
        protected TokenStreamComponents createComponents(String field) {
            Tokenizer words = new PatternTokenizer(WORD, 0);
            return new TokenStreamComponents(words, normalize(field, words));
        }

        @Override
        protected TokenStream normalize(String field, TokenStream in) {
            return new ASCIIFoldingFilter(new LowerCaseFilter(in));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Analyzer words = new Words();
        List<IndexSearcher> documents = new ArrayList<>();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            for (int at = 1; at < parts.length; at++) {
                parts[at] = URLDecoder.decode(parts[at], StandardCharsets.UTF_8);
            }
            if (parts[0].equals("document")) {
                MemoryIndex index = new MemoryIndex(true);
                for (int at = 1; at + 1 < parts.length; at += 2) {
                    index.addField(parts[at], parts[at + 1], words);
                }
                documents.add(index.createSearcher());
            } else {
                out.println(verdict(parts, words, documents));
            }
        }
        out.flush();
    }

    private static String verdict(String[] parts, Analyzer words, List<IndexSearcher> documents) throws Exception {
        String[] fields = parts[2].split(",");
        QueryParser parser =
                fields.length == 1 ? new QueryParser(fields[0], words) : new MultiFieldQueryParser(fields, words);
        parser.setDefaultOperator(QueryParser.Operator.valueOf(parts[1]));
        parser.setAllowLeadingWildcard(true);
        Query query;
        try {
            query = parser.parse(parts[3]);
        } catch (Exception refused) {
            return "error";
        }
        StringBuilder found = new StringBuilder();
        for (IndexSearcher document : documents) {
            found.append(document.count(query) > 0 ? '1' : '0');
        }
        return found.toString();
    }
}
